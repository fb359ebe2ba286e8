"""What is asked and offered in a thread, kept between two messages.

`Dialog.slots` holds, sealed: `slots` (what is known of the request), `asked` (the open question), `offers`
(readings with a button each), `next` (requests that came while a question was open).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bot.domain.errors import Stale
from bot.intents import Ask, KnownCard, Option, Reading
from bot.services.core import Core
from storage.messages import Dialog, Place, dialogs

MOVED_ON = "This question has moved on. Say what you need once more; nothing was recorded."


def mark(dialog: Dialog) -> str:
    """What a button carries: the dialog and the version it was drawn from."""
    return f"{dialog.id}:{dialog.version}"


async def marked(core: Core, stamp: str, slack_id: str) -> Dialog:
    """The dialog of a button, if it still stands as the button shows it. Raises Stale."""
    dialog_id, _, version = stamp.partition(":")
    async with core.store.begin() as tx:
        found = await dialogs.get(tx, dialog_id)
    if found is None or str(found.version) != version or found.place.user_id != slack_id:
        raise Stale(MOVED_ON)
    return found


async def begin(core: Core, place: Place, before: Dialog | None, **known: Any) -> Dialog:
    """What is asked or offered from now on, in place of `before`; buttons of before no longer count."""
    fresh = Dialog(
        id=before.id if before else core.ids.ulid(),
        place=place,
        intent="",
        slots={},
        asked_slot="",
        candidates=(),
        last_card_id=before.last_card_id if before else "",
        misses=0,
        version=before.version if before else 0,
        created_at=core.clock.now(),
        expires_at=core.clock.now(),
    )
    return await change(core, fresh, **known)


async def change(core: Core, dialog: Dialog, **known: Any) -> Dialog:
    """The same dialog with other contents, and a version of its own."""
    return await _kept(core, replace(dialog, version=dialog.version + 1, **known))


async def about_card(core: Core, place: Place, dialog: Dialog | None, card_id: str) -> None:
    """`it` means this card from now on. What is asked or offered stays as it is."""
    if dialog is None:
        await begin(core, place, None, last_card_id=card_id)
    else:
        await _kept(core, replace(dialog, last_card_id=card_id))


async def drop(core: Core, dialog: Dialog) -> Dialog:
    """Close what is asked and offered. The card that was talked about stays known."""
    return await change(core, dialog, intent="", slots={}, asked_slot="", candidates=(), misses=0)


async def _kept(core: Core, dialog: Dialog) -> Dialog:
    dialog = replace(dialog, expires_at=core.clock.now() + dialogs.LASTS)
    async with core.store.begin() as tx:
        await dialogs.put(tx, dialog)
    return dialog


def said(dialog: Dialog | None) -> dict[str, Any]:
    """The slots that are known so far."""
    return dict(dialog.slots.get("slots", {})) if dialog else {}


def asked(dialog: Dialog) -> Ask:
    """The open question, as it was asked."""
    return _ask(dialog.slots["asked"])


def readings(dialog: Dialog, name: str) -> list[Reading]:
    """The readings kept under `offers` or `next`."""
    return [_reading(one) for one in dialog.slots.get(name, [])]


def as_json(found: Sequence[Reading]) -> list[dict[str, Any]]:
    return [asdict(reading) for reading in found]


def _reading(kept: Mapping[str, Any]) -> Reading:
    """A reading as `as_json` wrote it."""
    ask, card = kept["ask"], kept["card"]
    more = {
        "ask": None if ask is None else _ask(ask),
        "card": None if card is None else KnownCard(**card),
        "notes": tuple(kept["notes"]),
    }
    return Reading(**{**kept, **more})


def _ask(kept: Mapping[str, Any]) -> Ask:
    return Ask(kept["slot"], kept["question"], tuple(Option(**option) for option in kept["options"]))
