"""An operation kind as a form: fields, then a preview, then submit.

The form follows from what the kind declares. A field's block id is the field's name and its element is
called `value`, so answers and errors find their field without a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.domain.cards import CardEntry
from bot.domain.ids import short_hashes
from bot.domain.people import draft_only
from bot.domain.requests import HEADLINE
from bot.operations import REASON_LIMIT, Concern, Field, Line, Operation
from handlers.views import blocks as b
from handlers.views import ids

REASON = "reason"
RUN_NOW = "run_now"
PROGRAM = "program"
FROM_MESSAGE = "From your message."
_TYPED_LIMIT = 3000


@dataclass(frozen=True, slots=True)
class Filled:
    """What a form holds: typed texts by field name, the reason, and the two choices beside them.

    `cards` are the cards that the texts name, by field name; where a text names no single one, its Card is empty.
    `from_message` are the fields whose value was read from what somebody wrote; the form says so at each of them.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    run_now: bool = False
    program: str = ""
    cards: Mapping[str, CardEntry] = field(default_factory=dict)
    from_message: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Shown:
    """What the preview modal says."""

    draft_id: str
    operation: Operation
    lines: Sequence[Line]
    concerns: Sequence[Concern]
    reason: str
    approvals_needed: int
    approvers: Sequence[str]  # Slack ids of those who may approve it now
    run_now: bool
    program: str
    live: bool
    paused: str = ""  # why nothing is sent to the program now


def form(
    cls: type[Operation],
    filled: Filled,
    *,
    programs: Sequence[str] = (),
    run_now: bool = False,
    note: str = "",
    channel: str = "",
) -> b.Block:
    """The fields of a kind. `programs` to choose from, `run_now` = offer the checkbox, `channel` = where asked."""
    notes = [*([note] if note else []), *_misfits(cls, filled)]
    blocks = [b.context(b.esc(cls.help[:1].upper() + cls.help[1:]) + ".")]
    blocks += [b.context(b.said(text)) for text in notes]
    if len(programs) > 1 and not any(f.card for f in cls.fields):
        choices = tuple((name, name) for name in programs)
        blocks.append(b.field(PROGRAM, "Program", _select(choices, filled.program or programs[0])))
    blocks += [_input(f, filled) for f in cls.fields]
    if run_now and cls.handling.can_run_now:
        blocks.append(_now(cls.handling.run_now, filled.run_now))
    blocks.append(reason_field(filled.reason, hint=_hint("Shown to the approvers.", REASON, filled)))
    meta = ids.pack(kind=cls.kind, **({"channel": channel} if channel else {}))
    return b.modal(ids.FORM, cls.title, blocks, submit="Preview", close="Cancel", meta=meta)


def _input(of: Field[Any], filled: Filled) -> b.Block:
    text = filled.texts.get(of.name, "")
    if of.card:
        element = _card(of, filled.cards.get(of.name))
    elif of.element == "choice":
        element = _select(of.choices, _canonical(of, text))
    elif of.element == "check":
        element = _check(of.label, bool(text))
    else:
        element = _text(of, text)
    hint = _hint(of.hint, of.name, filled)
    return b.field(of.name, of.label, element, hint=hint, optional=of.optional or of.element == "check")


def _hint(hint: str, name: str, filled: Filled) -> str:
    """The hint of a field, and whether its value is from what somebody wrote: to be checked there."""
    value = filled.reason if name == REASON else filled.texts.get(name, "")
    return f"{FROM_MESSAGE} {hint}".strip() if value and name in filled.from_message else hint


def _card(of: Field[Any], chosen: CardEntry | None) -> b.Block:
    """Searched while somebody types; with nothing typed, the first cards are offered."""
    element: b.Block = {
        "type": "external_select",
        "min_query_length": 0,
        "placeholder": b.plain(of.placeholder, b.PLACEHOLDER),
    }
    return {**element, "initial_option": card_option(chosen)} if chosen else element


def card_option(card: CardEntry) -> b.Block:
    """`MARTA KOWALSKA ••3205 · Active`, with the reference below it; its value is the card's id."""
    status = (card.status or "status unknown").replace("_", " ").capitalize()
    reference = f"Reference {card.partner_ref}" if card.partner_ref else ""
    return b.option(f"{card.label} · {status}", card.id, reference)


def _canonical(of: Field[Any], text: str) -> str:
    """What the kind makes of it ("bsc" is BNB); as typed where it makes nothing of it."""
    try:
        return of.canonical(text.strip()) if text.strip() else ""
    except ValueError:
        return text.strip()


def _text(of: Field[Any], text: str) -> b.Block:
    element: b.Block = {
        "type": "plain_text_input",
        "multiline": of.element == "lines",
        "max_length": _TYPED_LIMIT,
    }
    if of.placeholder:
        element["placeholder"] = b.plain(of.placeholder, b.PLACEHOLDER)
    if text:
        element["initial_value"] = b.cut(text, _TYPED_LIMIT)
    return element


def _select(choices: Sequence[tuple[str, str]], text: str) -> b.Block:
    options = [b.option(label, value) for value, label in choices]
    element: b.Block = {
        "type": "static_select",
        "options": options,
        "placeholder": b.plain("Choose", b.PLACEHOLDER),
    }
    chosen = next((o for o in options if o["value"].lower() == text.lower()), None)
    return {**element, "initial_option": chosen} if chosen else element


def _check(label: str, ticked: bool, description: str = "") -> b.Block:
    options = [b.option(label, "yes", description)]
    element: b.Block = {"type": "checkboxes", "options": options}
    return {**element, "initial_options": options} if ticked else element


def _now(label: str, ticked: bool) -> b.Block:
    element = _check(
        label,
        ticked,
        "Sent at once, without approval. A second person confirms it afterwards.",
    )
    return b.field(RUN_NOW, "When", element, optional=True)


def reason_field(text: str = "", *, hint: str = "Shown to the approvers.") -> b.Block:
    """Why it is asked for; every form has it."""
    element: b.Block = {"type": "plain_text_input", "multiline": True, "max_length": REASON_LIMIT}
    if text:
        element["initial_value"] = b.cut(text, REASON_LIMIT)
    return b.field(REASON, "Reason", element, hint=hint)


def _misfits(cls: type[Operation], filled: Filled) -> list[str]:
    """What was typed for a select and is none of its options cannot be prefilled, so it is reported."""
    found = []
    for of in cls.fields:
        text = _canonical(of, filled.texts.get(of.name, ""))
        if of.element == "choice" and text and text.lower() not in {value.lower() for value, _ in of.choices}:
            names = ", ".join(label for _, label in of.choices)
            found.append(f"“{b.cut(text, 40)}” is not a {of.label.lower()} here. Choose one of {names}.")
    return found


def read(cls: type[Operation], values: Mapping[str, Mapping[str, Mapping[str, object]]]) -> Filled:
    """Slack's `state.values` as texts by field name."""
    texts = {block: answer(holder.get("value", {})) for block, holder in values.items()}
    reason, run_now, program = texts.pop(REASON, ""), texts.pop(RUN_NOW, ""), texts.pop(PROGRAM, "")
    names = {f.name for f in cls.fields}
    return Filled({n: t for n, t in texts.items() if n in names}, reason, bool(run_now), program)


def answer(entry: Mapping[str, object]) -> str:
    """One element's state as text: what was typed, or the value of what was chosen."""
    chosen = entry.get("selected_option")
    if isinstance(chosen, Mapping):
        return str(chosen.get("value", ""))
    ticked = entry.get("selected_options")
    if isinstance(ticked, list):
        return " ".join(str(o.get("value", "")) for o in ticked if isinstance(o, Mapping))
    return str(entry.get("value") or "")


def errors_of(cls: type[Operation], errors: Mapping[str, str]) -> dict[str, str]:
    """Field errors as Slack takes them: by block id; what belongs to no field of the form goes to the reason."""
    shown = {f.name for f in cls.fields} | {REASON}
    found: dict[str, str] = {}
    for name, sentence in errors.items():
        block = name if name in shown else REASON
        found[block] = b.cut(" ".join(filter(None, (found.get(block, ""), b.clean(sentence)))), 1000)
    return found


def loading(title: str, sentence: str, callback_id: str = ids.NOTICE, meta: str = "") -> b.Block:
    """A view that says what it is waiting for."""
    return b.modal(callback_id, title, [b.section(b.said(sentence))], meta=meta)


def preview(shown: Shown, *, channel: str = "") -> b.Block:
    """What would be asked for and what it would do, before anything is recorded."""
    operation, summary = shown.operation, shown.operation.summary()
    blocks = [b.header(short_hashes(summary)), *concerns(shown.concerns)]
    if len(summary) > HEADLINE or summary != short_hashes(summary):
        blocks.insert(1, b.plain_section(summary))
    blocks += b.pairs([*shown.lines, ("Reason", shown.reason)])
    blocks += [b.section(_who(shown)), b.context(which_money(shown.program, live=shown.live))]
    edit = b.button("Edit", ids.EDIT, shown.draft_id)
    meta = ids.pack(draft=shown.draft_id, kind=operation.kind, **({"channel": channel} if channel else {}))
    return b.modal(
        ids.PREVIEW, operation.title, [*blocks, b.actions([edit])], submit="Submit", close="Close", meta=meta
    )


def concerns(found: Sequence[Concern]) -> list[b.Block]:
    """What speaks against it, the worst first. Our sentences here have no code: what looks like it is of others."""
    ordered = sorted(found, key=lambda c: not c.stops)
    return [
        b.section(f"*{'✗ This would be blocked right now' if c.stops else '▲ Please note'}:* {b.esc(c.text)}")
        for c in ordered
    ]


def _who(shown: Shown) -> str:
    needed = b.counted(shown.approvals_needed, "approval")
    names = ", ".join(b.mention(person) for person in sorted(shown.approvers)[:10])
    handling = shown.operation.handling
    if shown.run_now and handling.urgency:
        if draft_only.is_said_in(shown.paused):
            return (
                f"*{handling.run_now}:* this is a draft. It is *not* sent, and {handling.urgency.unchanged}."
            )
        when = "is sent once sending resumes" if shown.paused else "is sent as soon as you submit"
        return (
            f"*{handling.run_now}:* it {when}, without an approval. Once it is done, a second person is"
            f" asked to confirm or undo it: {names or 'nobody can right now'}."
        )
    if len(shown.approvers) < shown.approvals_needed:
        return (
            f"*▲ Needs {needed},* and only {b.counted(len(shown.approvers), 'other approver')} could give one right"
            " now. Ask an admin to add approvers; the request would wait until it expires."
        )
    return f"*Needs {needed}* from {names} (not you: you requested it)."


def which_money(program: str, *, live: bool) -> str:
    kind = "*LIVE:* this moves real money" if live else "*SANDBOX:* no real money"
    return f"{kind} · program {b.esc(program)}"


def trouble(title: str, sentence: str, *, draft_id: str = "", channel: str = "", kind: str = "") -> b.Block:
    """What went wrong, with the way back to the fields where there is one."""
    blocks = [b.section(f"*✗* {b.said(sentence)}")]
    if draft_id:
        blocks.append(b.actions([b.button("Edit", ids.EDIT, draft_id)]))
    meta = ids.pack(**{k: v for k, v in (("draft", draft_id), ("kind", kind), ("channel", channel)) if v})
    return b.modal(ids.NOTICE, title, blocks, meta=meta)
