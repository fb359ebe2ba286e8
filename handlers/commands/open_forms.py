"""Opens the form of an operation kind, empty or filled: from a command, a button, a draft or a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.card_details import NOT_SET_UP
from bot.operations import REASON_LIMIT, Operation
from bot.services import people
from bot.services.cards import card_choice
from bot.services.events import webhook_status
from bot.services.operators import programs
from bot.services.requests import approvals, request_lookups
from handlers.commands import grammar
from handlers.guard import Turn
from handlers.modals import batches
from handlers.views import Block
from handlers.views.requests import Filled, forms

_DRAFT_ONLY = (
    "Draft only: you can request and approve this for practice. Nothing is sent to your card provider"
)


async def form_of(
    turn: Turn, cls: type[Operation], filled: Filled, *, note: str = "", channel: str = ""
) -> Block:
    """The form of a kind, as this policy and these programs make it, with the cards that were named."""
    core = turn.core
    named = {f.name: text for f in cls.fields if f.card and (text := filled.texts.get(f.name, "").strip())}
    chosen = {name: await card_choice.chosen(core, text) for name, text in named.items()}
    async with core.store.read() as tx:
        drafts = _draft_only(core.kinds) if await programs.any_draft_only(tx) else ""
    note = " ".join(filter(None, [drafts, *(found.note for found in chosen.values()), note]))
    return forms.form(
        cls,
        replace(filled, cards={name: found.card for name, found in chosen.items() if found.card}),
        programs=sorted(core.partners),
        run_now=core.policy.of(cls.kind).now,
        note=note,
        channel=channel or turn.channel,
    )


def _draft_only(kinds: Mapping[str, type[Operation]]) -> str:
    at_once = dict.fromkeys(cls.handling.run_now for cls in kinds.values() if cls.handling.run_now)
    return f"{_DRAFT_ONLY}, {' and '.join(at_once)} included." if at_once else f"{_DRAFT_ONLY}."


async def open_form(turn: Turn, cls: type[Operation], filled: Filled, *, note: str = "") -> None:
    """For those who may ask; a trigger lives three seconds, so nothing slow stands before the window."""
    await people.require_may_ask(
        turn.core,
        turn.user,
        cls,
        action=f"{cls.kind}.open",
        within_s=people.ANSWERED_WITHIN_S,
        safer=cls.handling.is_urgent,
    )
    filled = replace(filled, texts=_without_safeguards(cls, filled.texts))
    if cls.handling.needs_public_url and not turn.core.reveals.base_url:
        view = forms.trouble(cls.title, NOT_SET_UP)
    else:
        view = await form_of(turn, cls, filled, note=note)
    await turn.client.views_open(trigger_id=turn.trigger, view=view)


def _without_safeguards(cls: type[Operation], texts: Mapping[str, str]) -> dict[str, str]:
    """What a person has to fill in themselves each time is filled for nobody."""
    safeguards = {field.name for field in cls.fields if field.safeguard}
    return {name: text for name, text in texts.items() if name not in safeguards}


async def open_from_command(turn: Turn, cls: type[Operation], rest: str) -> None:
    if batches.is_bulk(cls, rest):
        await batches.open_paste(turn, cls)
        return
    filled = _about_webhook(turn, cls, rest) if cls.webhook_url else await _typed(turn, cls, rest)
    await open_form(turn, cls, filled)


async def _typed(turn: Turn, cls: type[Operation], rest: str) -> Filled:
    """As the fields of the form; after the card alone, which is all that some forms ask, the reason may follow."""
    texts = grammar.prefill(cls, rest)
    if len(cls.fields) != 1 or not cls.fields[0].card or not texts:
        return Filled(texts)
    name = cls.fields[0].name
    card, reason = await card_choice.exact_card_and_rest(turn.core, texts[name])
    return Filled({name: card}, reason=reason[:REASON_LIMIT])


def _about_webhook(turn: Turn, cls: type[Operation], rest: str) -> Filled:
    """A program or an address; with neither, the address of this bot for the default program."""
    core = turn.core
    program = rest if rest in core.partners else core.default_program
    url = rest if rest and rest not in core.partners else webhook_status.our_url(core, program)
    return Filled({cls.webhook_url: url} if url else {}, program=program)


async def open_from_request(turn: Turn, request_id: str, *, undo: bool = False) -> None:
    """Ask again for what was asked, or (`undo`) take back what was done at once; private details are typed again."""
    request = (await request_lookups.request_view(turn.core, request_id)).request
    asked = turn.core.kinds[request.kind]
    cls = turn.core.kinds[asked.undone_by] if undo else asked
    shown = {f.name for f in cls.fields if not f.private}
    texts = {name: text for name, text in request.terms.items() if name in shown}
    about = f" ({request.subject_label})" if request.subject_label else ""
    reason = f"Undo {request.id}" if undo else request.reason
    filled = Filled(texts, reason=reason, program=request.program)
    await open_form(turn, cls, filled, note=f"Filled from {request.id}{about}. Check it before you submit.")


async def form_of_draft(turn: Turn, draft_id: str, channel: str) -> Block:
    """The fields of a draft again, as its owner filled them."""
    draft = await approvals.draft(turn.core, draft_id, turn.user)
    filled = Filled(draft.values, draft.reason, draft.run_now, draft.program)
    return await form_of(turn, turn.core.kinds[draft.kind], filled, channel=channel)
