"""The pipeline: from a plan to a finished assembly, in the order the contract fixes."""

from __future__ import annotations

import json
import logging
from itertools import compress
from typing import TYPE_CHECKING, Any

from dsh_prompt.errors import MultipleCompleteSectionsError, PromptError
from dsh_prompt.evaluation import Run, evaluate
from dsh_prompt.invariants import check_assembly
from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.blocks import Block, Blocks
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.model.provenance import Provenance
from dsh_prompt.model.tools import ToolSchema
from dsh_prompt.render.prompt import render_contexts, render_sections, tool_size
from dsh_prompt.waterfall import Waterfall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.plan import BlocksPlan, Plan

logger = logging.getLogger("dsh_prompt.assembly")


async def assemble(
    plan: Plan,
    context: AssembleContext,
    *,
    synchronous: bool,
    timeout: float | None,  # noqa: ASYNC109 - of each hook, not of the whole
) -> PromptAssembly:
    """Evaluate *plan* for *context*, pass it through the waterfall, check the result.

    The first failure in the fixed order of the steps is the one raised.
    """
    run = Run(context, synchronous=synchronous, timeout=timeout)
    assembly, complete = await _contributed(plan, run)
    if plan.listeners:
        waterfall = Waterfall(plan.listeners, context, synchronous=synchronous, timeout=timeout)
        assembly = await waterfall.pass_through(assembly)
    if complete is not None:
        assembly._sections = complete
    if plan.suppressed:
        assembly._contexts = Blocks((), ())
    _prune(assembly, plan)
    check_assembly(assembly)
    if logger.isEnabledFor(logging.DEBUG):
        _log(assembly)
    return assembly


async def _contributed(plan: Plan, run: Run) -> tuple[PromptAssembly, Blocks | None]:
    """Give the assembly as contributed, and its complete section, if there is one."""
    run.check_cancelled()
    variables = await _variables(plan, run)
    left_out, left_out_contexts = await _left_out(plan, run)
    answers = await evaluate(plan.tools.providers, run) if plan.tools.providers else []
    complete = _complete_index(plan.sections, left_out)
    sections = await _texts(plan.sections, left_out, run)
    contexts = await _texts(plan.contexts, left_out_contexts, run)
    tools, tool_sources = plan.tools.ordered(answers)
    assembly = PromptAssembly._assembled(
        sections,
        contexts,
        tools,
        variables,
        Provenance(zip(tools, tool_sources, strict=True), dict(variables), plan.variable_sources),
        plan.generation,
    )
    if complete is None:
        return assembly, None
    # As it is before the waterfall: no listener can reach these.
    block = plan.sections.blocks[complete]
    return assembly, Blocks((block,), (sections.texts[sections.blocks.index(block)],))


async def _variables(plan: Plan, run: Run) -> dict[str, str | None]:
    variables: dict[str, str | None] = dict(plan.constants)
    if plan.variable_providers:
        values: list[str | None] = await evaluate(plan.variable_providers, run)
        variables.update(zip(plan.variable_names, values, strict=True))
    return variables


async def _left_out(plan: Plan, run: Run) -> tuple[set[int], set[int]]:
    """Give the indexes of the sections, and of the contexts, whose ``when`` is false."""
    if not plan.whens:
        return set(), set()
    verdicts = iter(await evaluate(plan.whens, run))
    sections, contexts = (
        {index for index in blocks.when_indexes if not next(verdicts)}
        for blocks in (plan.sections, plan.contexts)
    )
    return sections, contexts


def _complete_index(sections: BlocksPlan, left_out: set[int]) -> int | None:
    complete = [index for index in sections.complete if index not in left_out]
    if len(complete) > 1:
        names = tuple(sections.blocks[index].name for index in complete)
        listed = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
        owners = ", ".join(sections.blocks[index].source.owner for index in complete)
        raise MultipleCompleteSectionsError(
            f"multiple complete prompt sections are active: {listed} (of {owners}); only one "
            "can be the whole prompt, so give the others a false `when`, or unload them",
            names=names,
        )
    return complete[0] if complete else None


async def _texts(blocks: BlocksPlan, left_out: set[int], run: Run) -> Blocks:
    """Evaluate the texts of all *blocks* but those *left_out*, in order."""
    providers, indexes = blocks.providers, blocks.provider_indexes
    if left_out:
        indexes = [index for index in indexes if index not in left_out]
        providers = [
            provider
            for provider, index in zip(providers, blocks.provider_indexes, strict=True)
            if index not in left_out
        ]
    texts: list[Any] = list(blocks.texts)
    if providers:
        for index, text in zip(indexes, await evaluate(providers, run), strict=True):
            texts[index] = text
    if not left_out:
        return Blocks(blocks.blocks, texts)
    kept = [index for index in range(len(texts)) if index not in left_out]
    return Blocks([blocks.blocks[index] for index in kept], [texts[index] for index in kept])


def _prune(assembly: PromptAssembly, plan: Plan) -> None:
    """Drop the sections and contexts that require a tool which is not in the list."""
    sections, contexts = assembly._sections, assembly._contexts
    if plan.sections.requires_tools or isinstance(sections, list):
        assembly._sections = _with_their_tools(sections, assembly)
    if plan.contexts.requires_tools or isinstance(contexts, list):
        assembly._contexts = _with_their_tools(contexts, assembly)


def _with_their_tools(held: Any, assembly: PromptAssembly) -> Any:
    items = held.blocks if isinstance(held, Blocks) else held
    # What is no section, context or tool at all is left for the guard.
    needs = [item.requires_tools if isinstance(item, _PRUNED) else () for item in items]
    if not any(needs):
        return held
    present = {tool.name for tool in assembly._tools if isinstance(tool, ToolSchema)}
    kept = [present.issuperset(need) for need in needs]
    if isinstance(held, Blocks):
        return Blocks(list(compress(held.blocks, kept)), list(compress(held.texts, kept)))
    return list(compress(held, kept))


_PRUNED = (Block, AssembledSection, AssembledContext)


def _log(assembly: PromptAssembly) -> None:
    """Tell what took part, in one line: names and sizes in characters, never a text."""
    try:
        sections, contexts = render_sections(assembly), render_contexts(assembly)
        digest = assembly.fingerprint().all
    except PromptError as error:
        reason = type(error).__name__
        logger.debug("assembled generation %s: %s when rendered", assembly.generation, reason)
        return
    logger.debug(
        "assembled generation %s: sections [%s] contexts [%s] tools [%s] fingerprint %s",
        assembly.generation,
        _sizes(assembly._facts("section"), map(len, sections)),
        _sizes(assembly._facts("context"), map(len, contexts)),
        _sizes(assembly._tools, map(tool_size, assembly._tools)),
        digest,
    )


def _sizes(items: Iterable[Any], sizes: Iterable[int]) -> str:
    return ", ".join(f"{item.name}={size}" for item, size in zip(items, sizes, strict=True))
