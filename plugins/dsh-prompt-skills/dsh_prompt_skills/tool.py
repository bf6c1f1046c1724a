"""The tool with which a model loads a skill: its schema, and the answer to a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dsh_prompt import ToolSchema
from dsh_prompt.untrusted import UnusableError, clean, decode, framed, visible_name
from dsh_prompt_skills.bodies import beginning, framed_body, listed, read_body
from dsh_prompt_skills.errors import SkillError
from dsh_prompt_skills.resources import read_resource

if TYPE_CHECKING:
    from dsh_prompt_skills.config import Config
    from dsh_prompt_skills.skills import Skills
    from dsh_prompt_skills.values import Found, Skill

_LONGEST_PATH: Final = 1000
#: It names no skill: a new one must not change the tools, which stand before all else in a cache.
SKILL_TOOL: Final = ToolSchema(
    name="skill",
    description=(
        "Loads a skill: instructions for one kind of work. The system prompt lists the skills. "
        "With a path it gives a file that the skill's instructions name, from the skill's folder."
    ),
    parameters={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the skill."},
            "path": {
                "type": "string",
                "description": "A file of the skill, relative to its folder, with / between parts.",
            },
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    annotations={"readOnlyHint": True},
)


def answer(skills: Skills, arguments: object, workdir: str | None) -> str:
    """Answer a call with *arguments*, as the model wrote them."""
    given = arguments if isinstance(arguments, Mapping) else {}
    name, path = given.get("name"), given.get("path")
    if not isinstance(name, str) or not isinstance(path, str | None):
        return "Not loaded: `name` must be a text, and so must `path` if it is given."
    try:
        skill = _offered(skills.find(workdir), name)
        if path:
            return _resource(skill, path, skills.config)
        body = read_body(skill, skills.config.max_file_bytes)
        return framed_body(body, skills.config.max_body_chars)
    except SkillError as exc:
        reason = str(exc)
    except UnusableError as exc:
        reason = f"skill {listed([name])} {exc}"
    return f"Not loaded: {clean(reason).text}."


def _offered(found: Found, name: str) -> Skill:
    skill = found.get(name)
    if skill is not None and skill.head.by_model:
        return skill
    if skill is not None:
        raise SkillError(f'skill "{name}" is for the user alone to start')
    names = [skill.name for skill in found.skills if skill.head.by_model]
    hint = f"the skills are {listed(names)}" if names else "there are no skills"
    raise SkillError(f"there is no skill {listed([name])}; {hint}")


def _resource(skill: Skill, path: str, config: Config) -> str:
    shown = visible_name(path[:_LONGEST_PATH])
    try:
        text = decode(read_resource(skill, path, config.max_file_bytes))
    except UnusableError as exc:
        raise SkillError(f'"{shown}" {exc}') from None
    text = beginning(clean(text).text, config.max_body_chars)
    return framed("skill", text, name=skill.name, root=skill.rank, file=shown)
