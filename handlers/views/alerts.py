"""An alert: one message for one condition, edited in place until the condition is over. And the anchors."""

from __future__ import annotations

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


def alert(picture: AlertView) -> b.Block:
    """What is wrong, since when, how often, who is on it; or that it is over, and how long it lasted."""
    over = picture.state == "resolved"
    kind = catalogue.of(picture.kind)
    head = kind.open_head or _SEVERITY[Severity(picture.severity)]
    if over and picture.resolved_at != picture.raised_at:
        head = kind.over_head
    blocks = [b.header(f"{head}: {picture.title}"), b.section(b.esc(b.cut(picture.text, 2500)))]
    if picture.history is not None:
        blocks += charts.float_chart(picture.history)
    called = b.calls(picture.mentions)
    if called:
        blocks.append(b.section(f"{called}: please look at this."))
    blocks.append(b.context(" · ".join(_facts(picture))))
    if not over:
        blocks.append(b.actions(_buttons(picture), f"alert:{picture.id}"))
    first = f"{b.money(picture.live, draft_only=picture.draft_only)} · {head}: {b.esc(picture.title)}"
    return b.message(f"{first} {called}".rstrip(), blocks)


def _facts(picture: AlertView) -> list[str]:
    is_note = picture.resolved_at == picture.raised_at
    parts = [b.when(picture.raised_at) if is_note else f"since {b.when(picture.raised_at)}"]
    if picture.count > 1:
        parts.append(f"seen {picture.count:,} times, last {b.when(picture.updated_at)}")
    if picture.state == "acknowledged":
        until = f" until {b.when(picture.held_until)}" if picture.held_until else ""
        parts.append(f"acknowledged by {b.esc(picture.acknowledged_by)}{until}")
    if picture.state == "snoozed" and picture.held_until:
        parts.append(f"snoozed until {b.when(picture.held_until)}")
    parts += [f"<{link}|{b.esc(request)}>" for request, link in picture.links]
    if picture.assigned_to:
        parts.append(f"with {b.esc(picture.assigned_to)}")
    if picture.state == "resolved" and picture.resolved_at and not is_note:
        parts.append(f"over {b.when(picture.resolved_at)}")  # how long it was so is said by its ending
    if not picture.live:
        parts.append("SANDBOX")
    return parts


def _buttons(picture: AlertView) -> list[b.Block]:
    """Those of its kind: three of them, and the rest under the dots; without what would be refused."""
    return [
        _button(button, picture) for button in catalogue.of(picture.kind).buttons if _works(button, picture)
    ]


def _works(button: Button, picture: AlertView) -> bool:
    return picture.can_try_now or button is not Button.TRY_NOW


def _button(button: Button, picture: AlertView) -> b.Block:
    if button is Button.MORE:
        return _more(picture)
    text, action, style = _BUTTONS[button]
    return b.button(text, action, picture.id, style)


def _more(picture: AlertView) -> b.Block:
    """The menu under the dots; Slack refuses a menu of one entry, so that one is a button."""
    if not picture.is_mutable:
        return b.button("Assign to me", ids.ALERT_ASSIGN, picture.id)
    entries = (("Assign to me", "assign"), ("Resolve", "resolve"))
    return b.overflow(ids.ALERT_MORE, [b.option(text, f"{verb}:{picture.id}") for text, verb in entries])


def next_step(picture: AlertView) -> b.Block:
    """The one button that brings it further: what is asked of people, else its remedy."""
    step = catalogue.of(picture.kind).next_step
    return _button(step if _works(step, picture) else Button.ACK, picture)


def line(picture: AlertLineView) -> b.Block:
    """One line of the alert's thread."""
    called = b.calls(picture.mentions)
    who = f"{b.esc(picture.actor)}: " if picture.actor else ""
    text = f"{who}{b.esc(picture.text)}{' ' + called if called else ''}"
    return b.message(text, [b.section(text)])


def chart(picture: AlertChartView) -> b.Block:
    """The course of the float by itself, to be drawn as a file."""
    blocks = charts.float_chart(picture.history)
    return b.message(b.esc(blocks[0]["title"]), blocks)


def code(picture: CodeView) -> b.Block:
    """The direct message with a one-time code. Its fallback text has none: that is what phones show."""
    head = f"A code for {b.esc(picture.label)}"
    until = f"Good until {b.when(picture.good_until)}. If this purchase is not yours, freeze the card immediately."
    blocks = [
        b.header(f"Code {picture.code.reveal()}"),
        b.section(f"{head}: {b.esc(picture.where)}."),
        b.context(until),
    ]
    return b.message(head, blocks)


def digest(picture: DigestView) -> b.Block:
    """The morning's digest. Its text works alone on a phone."""
    money = b.money(picture.live, draft_only=picture.draft_only)
    first = f"{b.esc(picture.first)} · " if picture.first else ""
    blocks = [b.header(f"Daily summary of {picture.day}"), *b.pairs(picture.lines)]
    if picture.waiting:
        rows = [
            f"• {b.esc(text)}, since {b.when(since)}, until {b.when(until)}"
            for text, since, until in picture.waiting
        ]
        blocks.append(_listed("Waiting for a decision", rows, picture.waiting_in_all))
    if picture.still_open:
        rows = [f"• {b.esc(title)}" for title in picture.still_open[:_STILL_OPEN]]
        blocks.append(_listed("Still open", rows, len(picture.still_open)))
    blocks.append(
        b.context(f"{money} · since the last daily summary. `/countersign alerts` shows what is open.")
    )
    return b.message(f"{money} · {first}Daily summary of {b.esc(picture.day)}", blocks)


def _listed(head: str, rows: list[str], in_all: int) -> b.Block:
    more = in_all - len(rows)
    shown = b.cut("\n".join(rows), 2800)
    return b.section(f"*{head}*\n{shown}" + (f"\n… and {more:,} more" if more > 0 else ""))


def open_alerts(picture: AlertsView) -> b.Block:
    """`/countersign alerts`: the open ones with their buttons, the mute rules in words."""
    blocks: list[b.Block] = []
    for found in picture.alerts[:_SHOWN]:
        state = "" if found.state == "raised" else f" · {found.state}"
        severity = _SEVERITY[Severity(found.severity)]
        blocks.append(
            b.section(f"*{severity}: {b.esc(found.title)}*{state}\n{b.esc(b.cut(found.text, 300))}")
        )
        blocks.append(b.context(" · ".join(_facts(found))))
        blocks.append(b.actions(_buttons(found), f"alert:{found.id}"))
    more = len(picture.alerts) - _SHOWN
    if more > 0:
        blocks.append(b.context(f"{b.counted(more, 'more alert')} in the alerts channel."))
    blocks += [b.context(_rule(rule)) for rule in picture.mutes]
    text = f"{b.counted(len(picture.alerts), 'open alert')}" if picture.alerts else "No alert is open."
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


def anchor(picture: AnchorView) -> b.Block:
    """Where the audit chain ends, kept outside the database; the line is what `audit verify` reads."""
    text = f"Audit anchor: entry {picture.seq}"
    return b.message(text, [b.plain_section(picture.line), b.context(f"{text}. Keep this message.")])
