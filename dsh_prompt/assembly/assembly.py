"""The pipeline: from a plan to a finished assembly, in the order the contract fixes."""

from __future__ import annotations

import logging
from itertools import compress
from typing import TYPE_CHECKING, Any

from dsh_prompt.assembly.budgets import apply_budgets
from dsh_prompt.assembly.evaluation import evaluate
from dsh_prompt.assembly.invariants import check_assembly
from dsh_prompt.assembly.waterfall import Waterfall, pass_plainly
from dsh_prompt.coroutines import drive
from dsh_prompt.errors import MultipleCompleteSectionsError, PromptError
from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.blocks import Block, Blocks
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.model.provenance import Provenance
from dsh_prompt.model.tools import ToolSchema
from dsh_prompt.render.prompt import render_contexts, render_sections, tool_size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from dsh_prompt.assembly.evaluation import Run
    from dsh_prompt.assembly.plan import BlocksPlan, Plan
    from dsh_prompt.model.budget import Trimmed
    from dsh_prompt.model.tools import ToolProviderResult

logger = logging.getLogger("dsh_prompt.assembly")


def assemble(plan: Plan, run: Run) -> PromptAssembly:
    """Evaluate *plan* for the context of *run*, pass it through the waterfall, check the result.

    The first failure in the fixed order of the steps is the one raised. Nothing here waits: it is
    `assemble_async`, with a coroutine only where a step needs one.
    """
    begun = _in_one_go(plan, run)
    assembly, complete = drive(_step_by_step(plan, run)) if begun is None else begun
    if plan.listeners:
        denied: dict[str, str] = {}
        assembly, index, result = pass_plainly(plan.listeners, assembly, run.context, denied)
        if index < len(plan.listeners):
            waterfall = Waterfall(plan.listeners, run, denied)
            assembly = drive(waterfall.pass_through(assembly, index, result))
    return _finished(plan, assembly, complete)


async def assemble_async(plan: Plan, run: Run) -> PromptAssembly:
    """Assemble as `assemble` does, and wait for what is async."""
    assembly, complete = _in_one_go(plan, run) or await _step_by_step(plan, run)
    if plan.listeners:
        denied: dict[str, str] = {}
        assembly, index, result = pass_plainly(plan.listeners, assembly, run.context, denied)
        if index < len(plan.listeners):
            waterfall = Waterfall(plan.listeners, run, denied)
            assembly = await waterfall.pass_through(assembly, index, result)
    return _finished(plan, assembly, complete)


def _finished(plan: Plan, assembly: PromptAssembly, complete: Blocks | None) -> PromptAssembly:
    """Give *assembly* as it came out of the waterfall, with what stands above that, checked."""
    if complete is not None:
        assembly._sections = complete
    if plan.suppressed:
        assembly._contexts = Blocks((), (), plan.contexts.memory)
    if (
        plan.requires_tools
        or plan.has_budgets
        or type(assembly._sections) is not Blocks
        or type(assembly._contexts) is not Blocks
    ):
        _prune(assembly)
        apply_budgets(assembly)
    check_assembly(assembly)
    if logger.isEnabledFor(logging.DEBUG):
        _log(assembly)
    return assembly


def _in_one_go(plan: Plan, run: Run) -> tuple[PromptAssembly, Blocks | None] | None:
    """Give the assembly as contributed, where no provider needs more than a call.

    What was called is kept for `_step_by_step` where one does.
    """
    if run.context.cancel is not None:
        run.check_cancelled()
        return None
    if not plan.ahead:
        return None
    values = run.call_ahead(plan.ahead)
    if len(values) < plan.provider_count:
        return None
    tools, sections, contexts = plan.step_ends
    return _contributed(
        plan,
        plan.variables(values),
        values[tools:sections],
        plan.sections.filled(values[sections:contexts]),
        plan.contexts.filled(values[contexts:]),
        _complete_index(plan.sections, frozenset()) if plan.sections.complete else None,
    )


async def _step_by_step(plan: Plan, run: Run) -> tuple[PromptAssembly, Blocks | None]:
    """Give the assembly as contributed, and its complete section, if there is one."""
    variables = plan.variables(await evaluate(plan.variable_providers, run))
    left_out, left_out_contexts = await _left_out(plan, run)
    answers = await evaluate(plan.tools.providers, run)
    complete = _complete_index(plan.sections, left_out)
    sections = await _texts(plan.sections, left_out, run)
    contexts = await _texts(plan.contexts, left_out_contexts, run)
    return _contributed(plan, variables, answers, sections, contexts, complete)


def _contributed(
    plan: Plan,
    variables: dict[str, str | None],
    answers: list[ToolProviderResult],
    sections: Blocks,
    contexts: Blocks,
    complete: int | None,
) -> tuple[PromptAssembly, Blocks | None]:
    tools, tool_sources, withheld = plan.tools.ordered(answers)
    sources = plan.variable_sources
    provenance = Provenance(tools, tool_sources, variables, sources, sources, withheld)
    assembly = PromptAssembly._assembled(
        sections, contexts, tools, variables, provenance, plan.generation
    )
    if complete is None:
        return assembly, None
    # As it is before the waterfall: no listener can reach these.
    block = plan.sections.blocks[complete]
    text = sections.texts[sections.blocks.index(block)]
    return assembly, Blocks((block,), (text,), plan.sections.memory)


async def _left_out(plan: Plan, run: Run) -> tuple[AbstractSet[int], AbstractSet[int]]:
    """Give the indexes of the sections, and of the contexts, whose ``when`` is false."""
    verdicts = iter(await evaluate(plan.whens, run))
    sections, contexts = (
        {index for index in blocks.when_indexes if not next(verdicts)}
        for blocks in (plan.sections, plan.contexts)
    )
    return sections, contexts


def _complete_index(sections: BlocksPlan, left_out: AbstractSet[int]) -> int | None:
    complete = [index for index in sections.complete if index not in left_out]
    if len(complete) > 1:
        import json  # noqa: PLC0415 - only for this error

        names = tuple(sections.blocks[index].name for index in complete)
        listed = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
        owners = ", ".join(sections.blocks[index].source.owner for index in complete)
        raise MultipleCompleteSectionsError(
            f"multiple complete prompt sections are active: {listed} (of {owners}); only one "
            "can be the whole prompt, so give the others a false `when`, or unload them",
            names=names,
        )
    return complete[0] if complete else None


async def _texts(blocks: BlocksPlan, left_out: AbstractSet[int], run: Run) -> Blocks:
    """Evaluate the texts of all *blocks* but those *left_out*, in order."""
    if not left_out:
        return blocks.filled(await evaluate(blocks.providers, run))
    providers, indexes = blocks.providers_without(left_out)
    texts: list[Any] = list(blocks.texts)
    for index, text in zip(indexes, await evaluate(providers, run), strict=True):
        texts[index] = text
    kept = [index for index in range(len(texts)) if index not in left_out]
    return Blocks(
        [blocks.blocks[index] for index in kept], [texts[index] for index in kept], blocks.memory
    )


def _prune(assembly: PromptAssembly) -> None:
    """Drop the sections and contexts that require a tool which is not in the list."""
    assembly._sections = _with_their_tools(assembly._sections, assembly)
    assembly._contexts = _with_their_tools(assembly._contexts, assembly)


def _with_their_tools(held: Any, assembly: PromptAssembly) -> Any:
    items = held.blocks if isinstance(held, Blocks) else held
    # What is no section, context or tool at all is left for the guard.
    needs = [item.requires_tools if isinstance(item, _PRUNED) else () for item in items]
    if not any(needs):
        return held
    present = {tool.name for tool in assembly._tools if isinstance(tool, ToolSchema)}
    kept = [present.issuperset(need) for need in needs]
    if isinstance(held, Blocks):
        blocks, texts = list(compress(held.blocks, kept)), list(compress(held.texts, kept))
        return Blocks(blocks, texts, held.memory)
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
        "assembled generation %s: sections [%s] contexts [%s] tools [%s]%s fingerprint %s",
        assembly.generation,
        _sizes(assembly._facts("section"), map(len, sections)),
        _sizes(assembly._facts("context"), map(len, contexts)),
        _sizes(assembly._tools, map(tool_size, assembly._tools)),
        f" trimmed [{_losses(assembly.trimmed)}]" if assembly.trimmed else "",
        digest,
    )


def _losses(trimmed: Iterable[Trimmed]) -> str:
    return ", ".join(f"{one.kind} {one.name}={one.before}->{one.after}" for one in trimmed)


def _sizes(items: Iterable[Any], sizes: Iterable[int]) -> str:
    return ", ".join(f"{item.name}={size}" for item, size in zip(items, sizes, strict=True))
