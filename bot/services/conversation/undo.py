"""What “undo that” leads to: the person's own last request, to be cancelled or to be turned round by another request.

Nothing is cancelled here, and the opposite request is only offered as a form. Says plainly where nothing can be undone.
"""

from __future__ import annotations

from bot import intents
from bot.domain.requests import Request, State
from bot.intents import Reading
from bot.operations import loaded_facts
from bot.services.conversation import forms
from bot.services.core import Core
from bot.services.requests import local_facts, request_lookups
from storage.cards import cards

#: How the note of a form begins that takes back an earlier request: its values are that request's.
TAKES_BACK = "This would take back"
_NOTHING = "Nothing was requested and nothing has changed."
_WITHOUT_EFFECT = (State.REJECTED, State.CANCELLED, State.EXPIRED)


async def what_follows(
    core: Core, slack_id: str, reading: Reading, known: intents.Directory
) -> Request | Reading | str:
    """A request that its requester may still cancel, the reading of its opposite, or a sentence why there is neither.

    `reading` names the request, or the card and the kind it is about; else the newest of this person is meant. Raises
    NotFound for a request that does not exist.
    """
    found = await _meant(core, slack_id, reading)
    if found is None:
        return await _of_somebody_else(core, reading)
    if found.requester != slack_id:
        return (
            f"{found.id} was requested by {found.requester_name}. Only {found.requester_name} can cancel it; an"
            f" approver can reject it with its buttons. {_NOTHING}"
        )
    if found.parent_id:
        return (
            f"{found.id} is a row of {found.parent_id}. Cancel that, or request the opposite for this card."
            f" {_NOTHING}"
        )
    async with core.store.read() as tx:
        may_cancel = await local_facts.can_be_cancelled(tx, core, found)
    return found if may_cancel else _ended(found) or _opposite(core, found, known)


async def _meant(core: Core, slack_id: str, reading: Reading) -> Request | None:
    if named := reading.slots.get("request"):
        return (await request_lookups.request_view(core, str(named))).request
    word = reading.slots.get("kind")
    kinds = [kind for kind, cls in core.kinds.items() if cls.command[1] == word] if word else []
    subject = reading.card.id if reading.card else ""
    page = await request_lookups.search(core, requester=slack_id, subject=subject, kinds=kinds)
    return page.rows[0] if page.rows else None


async def _of_somebody_else(core: Core, reading: Reading) -> Reading | str:
    """`undo the freeze on Sofia`, which somebody else requested: what is meant is plain, and others may request it."""
    first = next((cls for cls in core.kinds.values() if cls.command[1] == reading.slots.get("kind")), None)
    other = core.kinds.get(first.opposite) if first else None
    if first is None or other is None or first.moves_money or reading.card is None or not first.leaves_card:
        return f"You have made no such request. {_NOTHING}"
    of_status = [kind for kind, cls in core.kinds.items() if cls.leaves_card]
    page = await request_lookups.search(
        core, states=(State.SUCCEEDED,), kinds=of_status, subject=reading.card.id
    )
    async with core.store.read() as tx:
        entry = await cards.get(tx, reading.card.id)
    status = entry.status if entry else None
    if status != first.leaves_card and (not page.rows or page.rows[0].kind != first.kind):
        read = f"{forms.label(reading.card)} is {(status or 'of unknown status').lower()}"
        return f"{read}, as last read: there is nothing to undo. {_NOTHING}"
    note = "You did not request this yourself. Check who did, and why, before you submit."
    return Reading(
        other.intent or other.kind,
        {"card": reading.slots.get("card", "")},
        opened=True,
        card=reading.card,
        notes=(note,),
        kind=other.kind,
    )


def _ended(found: Request) -> str:
    """A sentence for a request that has no effect, or none that is known yet."""
    if found.state in _WITHOUT_EFFECT:
        return (
            f"{found.id} ({found.headline}) is {found.word}: nothing came of it, so there is nothing to undo."
        )
    if found.state is State.FAILED:
        return f"{found.id} ({found.headline}) failed. {found.outcome_text} There is nothing to undo."
    if found.state is State.UNRESOLVED:
        return (
            f"We don't know yet if {found.id} ({found.headline}) was carried out. Wait until that is settled; see its"
            f" message. {_NOTHING}"
        )
    if found.state is not State.SUCCEEDED:
        return (
            f"{found.id} ({found.headline}) is being sent right now. You can undo it when its outcome is known."
            f" {_NOTHING}"
        )
    if found.is_batch:
        return (
            f"{found.id} is a batch, and all of it was sent. Request the opposite card by card, or as a batch."
            f" {_NOTHING}"
        )
    return ""


def _opposite(core: Core, found: Request, known: intents.Directory) -> Reading | str:
    cls = core.kinds[found.kind]
    operation = cls.of_stored(found.terms, found.subject_label)
    other = core.kinds.get(cls.opposite)
    texts = dict(operation.opposite_texts(loaded_facts(found.facts))) if other else {}
    if other is None or not texts:
        return f"{found.id} ({found.headline}) is done. {cls.no_opposite} {_NOTHING}"
    slots = {forms.REASON: f"Undo {found.id}", **texts}
    card = None
    if "card" in texts:
        card = next(iter(known.called(texts["card"])), None)
        if card is None:
            return f"{found.id} ({found.headline}) is done, and its card is closed. {_NOTHING}"
        slots["card"] = card.last4
    note = f"{TAKES_BACK} {found.id}: {found.headline}."
    return Reading(other.intent or other.kind, slots, opened=True, card=card, notes=(note,), kind=other.kind)
