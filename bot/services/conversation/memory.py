"""What is asked and offered in a thread, kept between two messages.

`Dialog.slots` holds, sealed: `slots` (what is known of the request), `asked` (the open question), `offers`
(readings with a button each), `next` (requests that came while a question was open), `read` (intent and slots of the
look-up that was answered last, unless a request was made since), `cards` (ids of the cards talked about before).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bot.domain.errors import Stale
from bot.intents import Ask, KnownCard, Option, Reading
from bot.services.core import Core
from storage.messages import Dialog, Place, dialogs

_CARDS_KEPT = 3
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


async def about_read(
    core: Core, place: Place, dialog: Dialog | None, before: Dialog | None, reading: Reading
) -> None:
    """This look-up can be followed up, and `it` means its card. What is asked or offered stays as it is.

    `before` is what was talked about until now, in this thread or, for a text outside any, in another one.
    """
    card_id = reading.card.id if reading.card else ""
    read = {
        "read": {"intent": reading.intent, "slots": dict(reading.slots)},
        "cards": cards_before(before, card_id),
    }
    last = card_id or (before.last_card_id if before else "")
    if dialog is not None:
        await _kept(core, replace(dialog, slots={**dialog.slots, **read}, last_card_id=last))
        return
    known = {"slots": said(before)} if before and not before.asked_slot else {}
    intent = before.intent if known and before else ""
    await begin(core, place, None, intent=intent, slots={**known, **read}, last_card_id=last)


def cards_before(dialog: Dialog | None, card_id: str) -> list[str]:
    """The ids of the cards talked about before this one, the newest first."""
    if dialog is None:
        return []
    known = [dialog.last_card_id, *dialog.slots.get("cards", [])]
    return [one for one in dict.fromkeys(known) if one and one != card_id][:_CARDS_KEPT]


async def drop(core: Core, dialog: Dialog) -> Dialog:
    """Close what is asked and offered. The card that was talked about stays known."""
    slots = read_before(dialog)
    return await change(core, dialog, intent="", slots=slots, asked_slot="", candidates=(), misses=0)


def read_before(dialog: Dialog | None) -> dict[str, Any]:
    """What was looked up last, as `Dialog.slots` keeps it."""
    kept = dialog.slots if dialog else {}
    return {name: kept[name] for name in ("read", "cards") if name in kept}


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
