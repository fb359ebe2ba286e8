"""The Home tab: what waits for me, what I asked for, the float with its age, and quick actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.requests import Request
from bot.operations._base import Operation
from bot.services.pictures import FloatPicture, InboxPicture
from handlers.views import blocks as b
from handlers.views import ids, replies, request

_ROWS = 10


def home(
    inbox: InboxPicture,
    money: FloatPicture | None,
    kinds: Mapping[str, type[Operation]],
    *,
    may_ask: bool,
    float_trouble: str = "",
) -> b.Block:
    """The view for one person. `float_trouble` says why there is no float to show."""
    blocks = [
        b.header("Waiting for you"),
        *_rows(inbox.waiting, "Nothing waits for you.", "Review", ids.APPROVE),
    ]
    blocks += [
        b.header("Your requests"),
        *_rows(inbox.mine, "You have no open request.", "Details", ids.DETAILS),
    ]
    blocks += [b.header("Float"), *_float(money, float_trouble)]
    if may_ask:
        buttons = [
            b.button(cls.verb, f"{ids.OPEN_FORM}:{kind}", " ".join(cls.command))
            for kind, cls in kinds.items()
            if not cls.asked_by_admins
        ]
        blocks += [b.header("Ask for"), b.actions(buttons[:25])]
    return {"type": "home", "blocks": b.fit(blocks, b.VIEW_BLOCKS)}


def _rows(found: Sequence[Request], empty: str, label: str, action_id: str) -> list[b.Block]:
    if not found:
        return [b.section(empty)]
    rows = [
        b.section(request.row(r), b.button(label, action_id, ids.stamp(r.id, r.version)))
        for r in found[:_ROWS]
    ]
    more = [b.context(f"and {len(found) - _ROWS} more: `/requests`")] if len(found) > _ROWS else []
    return [*rows, *more]


def _float(money: FloatPicture | None, trouble: str) -> list[b.Block]:
    if money is None:
        return [b.section(b.esc(trouble or "The float was not read yet."))]
    lines = [
        ("Balance", replies.usd(money.balance_usd)),
        ("Available", replies.usd(money.available_usd)),
        ("Pending requests", f"{replies.usd(money.pending_usd)} in {money.pending_count}"),
    ]
    real = "LIVE" if money.live else "SANDBOX"
    return [*b.pairs(lines), b.context(f"{real} ({b.esc(money.program)}) · {replies.age(money.read_at)}")]


def closed(sentence: str) -> b.Block:
    """What somebody sees who may not use the app."""
    return {"type": "home", "blocks": [b.section(f"*✗* {b.esc(sentence)}")]}
