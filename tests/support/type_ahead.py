"""How people choose in a select with type-ahead: they type, and take what is offered.

Slack's stand-in takes no value that was not offered, so whoever acts as a person in a test fills forms through this.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

Json = dict[str, Any]
# (block id, action id, what is typed) -> the outcome, with the options that were offered.
Suggest = Callable[[str, str, str], Awaitable[Json]]


async def values(blocks: Iterable[Json], typed: Mapping[str, Any], suggest: Suggest) -> Json:
    """What is typed into a form, by block id, as `submit` takes it: the elements of our forms are called `value`."""
    selects = {b["block_id"] for b in blocks if b.get("element", {}).get("type") == "external_select"}
    return {
        block: {"value": await _chosen(block, text, suggest) if block in selects else text}
        for block, text in typed.items()
    }


async def _chosen(block: str, text: str, suggest: Suggest) -> str:
    """The first option; what nobody offers is given as it was typed, for the stand-in to refuse."""
    options = (await suggest(block, "value", text)).get("options") or [{"value": text}]
    return str(options[0]["value"])
