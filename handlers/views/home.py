"""The Home tab: what waits for me, what I requested, float, alerts, actions, funding, cards, sending, how fresh it is.

Each person sees their own: those who decide see what waits for them first, admins how the programs run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.money import format_usd
from bot.domain.requests import Request
from bot.operations import Operation
from bot.view_models import AlertView, HomeTabView, ProgramState
from handlers.views import alerts, charts, ids, replies
from handlers.views import blocks as b
from handlers.views.lookups import float_and_ledger, status
from handlers.views.requests import request_card

_ROWS = 8
_ALERTS = 5
_FUNDING = 5
_MAIN_ACTIONS = 4


def home(
    found: HomeTabView, kinds: Mapping[str, type[Operation]], trouble: Mapping[str, str] | None = None
) -> b.Block:
    """The view for one person. `trouble` says by program why the float could not be read just now."""
    blocks = [b.header("DRAFT ONLY")] if any(state.draft_only for state in found.programs) else []
    blocks += [b.section(f"*✗ {b.said(state.paused)}*") for state in found.programs if state.paused]
    if found.may_decide:
        blocks += [b.header("Waiting for you")]
        blocks += _rows(found.inbox.waiting, "Nothing waits for you.", "Review", ids.APPROVE)
    blocks += [b.header("Your requests")]
    blocks += _rows(found.inbox.mine, "You have no open request.", "Details", ids.DETAILS)
    for state in found.programs:
        blocks += _float(state, (trouble or {}).get(state.program, ""), several=len(found.programs) > 1)
    blocks += [b.header("Alerts"), *_alerts(found.alerts, found.snoozed)]
    blocks += _actions(found, kinds)
    blocks += _funding(found.programs)
    blocks += [b.header("Cards"), *(_cards(state) for state in found.programs)]
    if found.may_decide or found.is_admin:
        blocks += _sending(found)
    blocks += [b.context(_fresh(state)) for state in found.programs]
    return {"type": "home", "blocks": b.fit(blocks, b.VIEW_BLOCKS)}


def _rows(found: Sequence[Request], empty: str, label: str, action_id: str) -> list[b.Block]:
    if not found:
        return [b.section(empty)]
    rows = [
        b.section(request_card.row(r), b.button(label, action_id, ids.stamp(r.id, r.version)))
        for r in found[:_ROWS]
    ]
    more = [b.context(f"and {len(found) - _ROWS} more: `/requests`")] if len(found) > _ROWS else []
    return [*rows, *more]


def _actions(found: HomeTabView, kinds: Mapping[str, type[Operation]]) -> list[b.Block]:
    """What this person may request: buttons for what is requested every day, a menu for the rest."""
    allowed = [
        kind
        for kind, cls in kinds.items()
        if (found.is_admin if cls.handling.asked_by_admins else found.may_ask)
    ]
    ordered = sorted(allowed, key=lambda kind: (not kinds[kind].buttons.home, kinds[kind].buttons.home, kind))
    elements = [
        b.button(kinds[kind].title, f"{ids.OPEN_FORM}:{kind}", " ".join(kinds[kind].command))
        for kind in ordered[:_MAIN_ACTIONS]
    ]
    others = [b.option(kinds[kind].title, " ".join(kinds[kind].command)) for kind in ordered[_MAIN_ACTIONS:]]
    if others:
        elements.append(b.select(f"{ids.OPEN_FORM}:menu", "More actions", others))
    return [b.header("Actions"), b.actions(elements)] if elements else []


def _alerts(found: Sequence[AlertView], snoozed: int) -> list[b.Block]:
    """The worst first, each with its next step; then how many are snoozed."""
    hidden = [b.context(f"{snoozed:,} snoozed: `/countersign alerts`")] if snoozed else []
    if not found:
        return [b.section("✓ No other alert is open." if snoozed else "✓ No alert is open."), *hidden]
    shown = []
    for one in found[:_ALERTS]:
        icon = status.SEVERITY_ICONS.get(one.severity, "▲")
        held = f" · {b.esc(one.acknowledged_by)} is on it" if one.acknowledged_by else ""
        text = f"{icon} *{b.esc(b.cut(one.title, 140))}* · since {b.when(one.raised_at)}{held}"
        shown.append(b.section(text, alerts.next_step(one)))
    more = len(found) - _ALERTS
    rest = [b.context(f"and {more} more: `/countersign alerts`")] if more > 0 else []
    return [*shown, *rest, *hidden]


def _float(state: ProgramState, trouble: str, *, several: bool) -> list[b.Block]:
    blocks = [b.header(f"Float of {state.program}" if several else "Float")]
    money = state.float
    if trouble:
        blocks.append(b.section(f"*▲ Not read just now.* {b.said(trouble)}"))
    if money is None:
        return [*blocks, b.section("The float was not read yet.")]
    lines = [
        ("Balance", format_usd(money.balance_usd)),
        ("Available", format_usd(money.available_usd)),
        float_and_ledger.held_by_pending(money),
    ]
    if money.runway is not None:
        lines += [
            ("Floor", format_usd(money.runway.floor_usd)),
            ("Runway", float_and_ledger.runway(money.runway)),
        ]
        if money.available_usd < money.runway.floor_usd:
            blocks.append(b.section("*▲ The float is below its floor.* Fund it: `/funding submit`"))
    blocks += b.pairs(lines)
    if money.history is not None and not several:
        blocks += charts.float_chart(money.history)
    real = b.money(money.live, draft_only=state.draft_only)
    return [*blocks, b.context(f"{real} ({b.esc(money.program)}) · {replies.age(money.read_at)}")]


def _funding(found: Sequence[ProgramState]) -> list[b.Block]:
    """What is on its way, reviews first."""
    under_way = [one for state in found for one in state.funding]
    if not under_way:
        return []
    lines = [
        f"• {b.esc(one.name)} on {b.esc(one.network)}: *{b.esc(one.word)}* ·"
        f" {format_usd(one.amount_usd)} · since {b.when(one.since)}"
        for one in under_way[:_FUNDING]
    ]
    more = [f"and {len(under_way) - _FUNDING} more: `/funding list`"] if len(under_way) > _FUNDING else []
    return [b.header("Funding under way"), b.section("\n".join([*lines, *more]))]


def _cards(state: ProgramState) -> b.Block:
    look = b.button("Cards", f"{ids.LOOK}:{state.program}", "card list")
    return b.section(f"*{b.esc(state.program)}* {b.esc(status.cards_in_brief(state))}", look)


def _sending(found: HomeTabView) -> list[b.Block]:
    """For those who may stop it; for admins with what is behind it."""
    blocks = [b.header("Sending to your card provider")]
    for state in found.programs:
        blocks.append(b.section(f"*{b.esc(state.program)}* {status.sending(state)}"))
        if found.is_admin:
            blocks.append(b.context(status.webhook(state)))
    return [*blocks, *status.pause_buttons(found.programs)]


def _fresh(state: ProgramState) -> str:
    return f"*{b.esc(state.program)}* · {status.freshness(state.fresh)}"


def closed(sentence: str) -> b.Block:
    """What somebody sees who may not use the app, and everybody while it is not known who may."""
    return {"type": "home", "blocks": [b.section(f"*✗* {b.said(sentence)}")]}
