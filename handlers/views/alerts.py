"""An alert: one message for one condition, edited in place until the condition is over. And the anchors."""

from __future__ import annotations

from datetime import date

from bot.domain.alerts import Button, Severity, catalogue
from bot.view_models import (
    AlertChartView,
    AlertLineView,
    AlertsView,
    AlertView,
    AnchorView,
    CodeView,
    DigestView,
    MuteView,
)
from handlers.views import blocks as b
from handlers.views import charts, ids

_SEVERITY = {Severity.INFO: "○ Note", Severity.WARNING: "▲ Warning", Severity.CRITICAL: "✗ Critical"}
SNOOZES = {"1h": "1 hour", "4h": "4 hours", "workday": "Until the next workday, 9:00", "7d": "7 days"}
# Text, action id and style; which of them an alert has is said by its kind in the catalogue.
_BUTTONS = {
    Button.ACK: ("Ack", ids.ALERT_ACK, ""),
    Button.SNOOZE: ("Snooze", ids.ALERT_SNOOZE, ""),
    Button.REMEDY: ("Suggest a fix", ids.ALERT_REMEDY, ""),
    Button.REDELIVER: ("Redeliver", ids.ALERT_REDELIVER, ""),
    Button.TRY_NOW: ("Try now", ids.ALERT_TRY_NOW, "primary"),
    Button.SHOW_CARD: ("Show the card", ids.ALERT_SHOW_CARD, ""),
    Button.RESUME: ("Resume", ids.ALERT_RESUME, "primary"),
    Button.CONFIRM: ("Confirm", ids.ALERT_CONFIRM, "primary"),
    Button.DECLINE: ("Decline", ids.ALERT_DECLINE, "danger"),
    Button.ACCEPT: ("Accept", ids.ALERT_TAKE_OVER, "primary"),
}
# Three blocks each, of fifty that a message has.
_SHOWN = 12
_STILL_OPEN = 20


def alert(model: AlertView) -> b.Block:
    """What is wrong, since when, how often, who is on it; or that it is over, and how long it lasted."""
    over = model.state == "resolved"
    kind = catalogue.of(model.kind)
    head = kind.open_head or _SEVERITY[Severity(model.severity)]
    if over and model.resolved_at != model.raised_at:
        head = kind.over_head
    blocks = [b.header(f"{head}: {model.title}"), b.section(b.said_in_lines(b.cut(model.text, 2500)))]
    if model.history is not None:
        blocks += charts.float_chart(model.history)
    called = b.calls(model.mentions)
    if called:
        blocks.append(b.section(f"{called}: please look at this."))
    blocks.append(b.context(" · ".join(_facts(model))))
    if not over:
        blocks.append(b.actions(_buttons(model), f"alert:{model.id}"))
    first = f"{b.money(model.live, draft_only=model.draft_only)} · {head}: {b.esc(model.title)}"
    return b.message(f"{first} {called}".rstrip(), blocks)


def _facts(view: AlertView) -> list[str]:
    is_note = view.resolved_at == view.raised_at
    parts = [b.when(view.raised_at) if is_note else f"since {b.when(view.raised_at)}"]
    if view.count > 1:
        last = (
            "" if view.state == "resolved" else f", last {b.when(view.updated_at)}"
        )  # its ending is no sight of it
        parts.append(f"seen {view.count:,} times{last}")
    if view.state == "acknowledged":
        until = f" until {b.when(view.held_until)}" if view.held_until else ""
        parts.append(f"acknowledged by {b.esc(view.acknowledged_by)}{until}")
    if view.state == "snoozed" and view.held_until:
        parts.append(f"snoozed until {b.when(view.held_until)}")
    parts += [f"<{link}|{b.esc(request)}>" for request, link in view.links]
    if view.assigned_to:
        parts.append(f"with {b.esc(view.assigned_to)}")
    if view.state == "resolved" and view.resolved_at and not is_note:
        parts.append(f"over {b.when(view.resolved_at)}")  # how long it was so is said by its ending
    if not view.live:
        parts.append("SANDBOX")
    return parts


def _buttons(view: AlertView) -> list[b.Block]:
    """Those of its kind: three of them, and the rest under the dots; without what would be refused."""
    return [_button(button, view) for button in catalogue.of(view.kind).buttons if _works(button, view)]


def _works(button: Button, view: AlertView) -> bool:
    return view.can_try_now or button is not Button.TRY_NOW


def _button(button: Button, view: AlertView) -> b.Block:
    if button is Button.MORE:
        return _more(view)
    text, action, style = _BUTTONS[button]
    return b.button(text, action, view.id, style)


def _more(view: AlertView) -> b.Block:
    """The menu under the dots; Slack refuses a menu of one entry, so that one is a button."""
    if not view.is_mutable:
        return b.button("Assign to me", ids.ALERT_ASSIGN, view.id)
    entries = (("Assign to me", "assign"), ("Resolve", "resolve"))
    return b.overflow(ids.ALERT_MORE, [b.option(text, f"{verb}:{view.id}") for text, verb in entries])


def next_step(view: AlertView) -> b.Block:
    """The one button that brings it further: what is asked of people, else its remedy."""
    step = catalogue.of(view.kind).next_step
    return _button(step if _works(step, view) else Button.ACK, view)


def line(view: AlertLineView) -> b.Block:
    """One line of the alert's thread. Its first line works alone on the phones of those whom it calls."""
    called = b.calls(view.mentions)
    who = f"{b.esc(view.actor)}: " if view.actor else ""
    text = f"{who}{b.said(view.text)}{' ' + called if called else ''}"
    return b.message(f"{b.money(view.live, draft_only=view.draft_only)} · {text}", [b.section(text)])


def chart(view: AlertChartView) -> b.Block:
    """The course of the float by itself, to be drawn as a file."""
    blocks = charts.float_chart(view.history)
    return b.message(b.esc(blocks[0]["title"]), blocks)


def code(view: CodeView) -> b.Block:
    """The direct message with a one-time code. Its fallback text has none: that is what phones show."""
    head = f"A code for {b.esc(view.label)}"
    until = (
        f"Valid until {b.when(view.good_until)}. If this purchase is not yours, freeze the card immediately."
    )
    blocks = [
        b.header(f"Code {view.code.reveal()}"),
        b.section(f"{head}: {b.esc(view.where)}."),
        b.context(until),
    ]
    return b.message(f"{b.money(view.live)} · {head}", blocks)


def digest(view: DigestView) -> b.Block:
    """The morning's digest. Its text works alone on a phone."""
    money = b.money(view.live, draft_only=view.draft_only)
    first = f"{b.esc(view.first)} · " if view.first else ""
    head = f"Daily summary of {_in_words(view.day)}"
    blocks = [b.header(head), *b.pairs(view.lines)]
    if view.waiting:
        rows = [
            f"• {b.esc(text)}, since {b.when(since)}, until {b.when(until)}"
            for text, since, until in view.waiting
        ]
        blocks.append(_listed("Waiting for a decision", rows, view.waiting_in_all))
    if view.still_open:
        rows = [f"• {b.esc(title)}" for title in view.still_open[:_STILL_OPEN]]
        blocks.append(_listed("Still open", rows, len(view.still_open)))
    blocks.append(
        b.context(f"{money} · since the last daily summary. `/countersign alerts` shows what is open.")
    )
    return b.message(f"{money} · {first}{b.esc(head)}", blocks)


def _in_words(day: str) -> str:
    """`2 March 2026` for 2026-03-02."""
    read = date.fromisoformat(day)
    return f"{read.day} {read:%B %Y}"


def _listed(head: str, rows: list[str], in_all: int) -> b.Block:
    more = in_all - len(rows)
    shown = b.cut("\n".join(rows), 2800)
    return b.section(f"*{head}*\n{shown}" + (f"\n… and {more:,} more" if more > 0 else ""))


def open_alerts(view: AlertsView) -> b.Block:
    """`/countersign alerts`: the open ones with their buttons, the mute rules in words."""
    blocks: list[b.Block] = []
    for found in view.alerts[:_SHOWN]:
        state = "" if found.state == "raised" else f" · {found.state}"
        severity = _SEVERITY[Severity(found.severity)]
        blocks.append(
            b.section(
                f"*{severity}: {b.said(found.title)}*{state}\n{b.said_in_lines(b.cut(found.text, 300))}"
            )
        )
        blocks.append(b.context(" · ".join(_facts(found))))
        blocks.append(b.actions(_buttons(found), f"alert:{found.id}"))
    more = len(view.alerts) - _SHOWN
    if more > 0:
        blocks.append(b.context(f"{b.counted(more, 'more alert')} in the alerts channel."))
    blocks += [b.context(_rule(rule)) for rule in view.mutes]
    text = f"{b.counted(len(view.alerts), 'open alert')}" if view.alerts else "No alert is open."
    return b.message(text, [b.section(f"*{text}*"), *blocks])


def _rule(rule: MuteView) -> str:
    about = f" about “{b.esc(rule.about)}”" if rule.about else ""
    until = f" until {b.when(rule.until)}" if rule.until else ", with no end"
    return f"Muted by rule *{b.esc(rule.name)}*: {b.esc(rule.kind)}{about}{until}, made by {b.esc(rule.by)}."


def snooze(alert_id: str, title: str) -> b.Block:
    """How long to keep quiet about it."""
    choice: b.Block = {
        "type": "static_select",
        "options": [b.option(text, value) for value, text in SNOOZES.items()],
        "initial_option": b.option(SNOOZES["1h"], "1h"),
    }
    blocks = [
        b.plain_section(title),
        b.field("for", "Snooze", choice),
        b.field("until", "Or until this date and time", {"type": "datetimepicker"}, optional=True),
    ]
    return b.modal(
        ids.SNOOZE_FORM, "Snooze", blocks, submit="Snooze", close="Back", meta=ids.pack(alert=alert_id)
    )


def support(title: str, text: str) -> b.Block:
    """A text to copy to the card provider: no form of ours fixes this."""
    blocks = [
        b.context("There is no form for this. Send this text to your card provider:"),
        b.plain_section(text),
    ]
    return b.modal(ids.NOTICE, "Suggest a fix", [b.plain_section(title), *blocks])


def anchor(view: AnchorView) -> b.Block:
    """Where the audit chain ends, kept outside the database; the line is what `audit verify` reads."""
    text = f"Audit anchor: entry {view.seq}"
    return b.message(text, [b.plain_section(view.line), b.context(f"{text}. Keep this message.")])
