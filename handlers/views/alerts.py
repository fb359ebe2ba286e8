"""An alert: one message for one condition, edited in place until the condition is over. And the anchors."""

from __future__ import annotations

from bot.services.pictures import AlertPicture, AnchorPicture
from handlers.views import blocks as b

_SEVERITY = {"info": "○ Note", "warning": "▲ Warning", "critical": "✗ Critical"}


def alert(picture: AlertPicture) -> b.Block:
    """What is wrong, since when, how often; or that it is over, and how long it lasted."""
    over = picture.state == "resolved"
    head = "✓ Resolved" if over else _SEVERITY.get(picture.severity, "▲ Warning")
    blocks = [b.header(f"{head}: {picture.title}"), b.section(b.esc(b.cut(picture.text, 2500)))]
    parts = [f"since {b.when(picture.raised_at)}"]
    if picture.count > 1:
        parts.append(f"seen {picture.count} times, last {b.when(picture.updated_at)}")
    if over and picture.resolved_at:
        lasted = int((picture.resolved_at - picture.raised_at).total_seconds())
        parts.append(f"over {b.when(picture.resolved_at)} after {duration(lasted)}")
    if not picture.live:
        parts.append("SANDBOX")
    blocks.append(b.context(" · ".join(parts)))
    return b.message(f"{head}: {b.esc(picture.title)}", blocks)


def duration(seconds: int) -> str:
    """`45 s`, `12 min`, `3 h 20 min`, `2 d`"""
    if seconds < 60:
        return f"{max(seconds, 0)} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} d"


def anchor(picture: AnchorPicture) -> b.Block:
    """Where the audit chain ends, kept outside the database; the line is what `audit verify` reads."""
    text = f"Audit anchor: entry {picture.seq}"
    return b.message(text, [b.plain_section(picture.line), b.context(f"{text}. Keep this message.")])
