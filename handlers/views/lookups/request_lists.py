"""Requests as look-ups show them: what waits for whom, a search, and the proofs of one."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from bot.domain.events import RequestPage
from bot.domain.money import format_usd
from bot.domain.requests import Request, Verification
from bot.view_models import CardRequestsView, InboxView
from handlers.views import blocks as b
from handlers.views.replies import listed, pages_beside, with_buttons
from handlers.views.requests import request_card, states


def inbox(found: InboxView) -> b.Block:
    """`/requests`: what waits for me, what I asked for, what was decided lately."""
    who = b.cut(found.name, 60)
    head = f"{len(found.waiting)} waiting for {who or 'you'}, {len(found.mine)} of {who or 'yours'} open"
    blocks = [b.header(head)]
    if who:
        name = b.esc(who)
        blocks += listed(f"Waiting for {name}", found.waiting, f"Nothing waits for {name}.")
        blocks += listed(f"Requested by {name}", found.mine, f"{name} has no open request.")
    else:
        blocks += listed("Waiting for you", found.waiting, "Nothing waits for you.")
        blocks += listed("Yours", found.mine, "You have no open request.")
        blocks += listed("Decided lately", found.recent[:5])
    blocks.append(
        b.context(
            "`/requests show R-XXXX` · `/requests cancel R-XXXX` · `/requests verify R-XXXX` · `/requests unresolved`"
            " · `/requests topup last week` · `/requests all 30d`"
        )
    )
    return b.message(b.esc(head), blocks)


def of_card(found: CardRequestsView, command: str, zone: ZoneInfo) -> b.Block:
    """`/card requests`: the newest request about a card with its decisions, and the others in a table."""
    page = found.found
    head = f"{found.label}: {b.counted(page.total, 'request')}"
    asked = ", ".join(filter(None, (found.kind, found.period.in_words() if found.period else "of any time")))
    blocks = [b.header(b.cut(head, 140)), b.section(f"*{b.esc(asked)}*")]
    if found.newest is not None:
        blocks += request_card.details(found.newest)
    others = page.rows[1:] if found.newest is not None else page.rows
    if others:
        blocks.append(b.table(_head(zone), [_row(one, zone) for one in others]))
    if not page.total:
        blocks.append(b.section("No request matches."))
    blocks.append(b.context(_source(found.read_at)))
    buttons = pages_beside(command, page.page, [one.id for one in page.rows], has_more=page.has_more)
    return with_buttons(b.message(b.esc(head), blocks), buttons)


def _source(read_at: datetime) -> str:
    return f"from Countersign's own database, {b.when(read_at)} · see one with `/requests show R-XXXX`"


def search(found: RequestPage, asked: str, command: str, zone: ZoneInfo) -> b.Block:
    """Requests that fit a search, in a table; `asked` says in words what was searched for."""
    if found.pages is None:
        head, number = f"more than {found.total:,} requests", f", page {found.page}"
    else:
        head = b.counted(found.total, "request")
        number = f", page {found.page} of {found.pages}" if found.pages > 1 else ""
    blocks = [b.header(f"{head}{number}"), b.section(f"*{b.esc(asked)}*")]
    if found.rows:
        rows = [_row(one, zone) for one in found.rows]
        blocks.append(b.table(_head(zone), rows))
    else:
        blocks.append(b.section("No request matches."))
    blocks.append(
        b.context("from Countersign's own database, just now · see one with `/requests show R-XXXX`")
    )
    buttons = pages_beside(command, found.page, [one.id for one in found.rows], has_more=found.has_more)
    return with_buttons(b.message(head, blocks), buttons)


def _head(zone: ZoneInfo) -> tuple[str, ...]:
    return ("Id", "State", "What", "Amount", "Requested by", f"Requested ({zone})")


def _row(one: Request, zone: ZoneInfo) -> tuple[str, ...]:
    amount = format_usd(one.exposure_usd) if one.exposure_usd else "–"
    asked = f"{one.created_at.astimezone(zone):%Y-%m-%d %H:%M}"
    return (one.id, states.badge_of(one), one.headline, amount, one.requester_name, asked)


def verification(found: Verification) -> b.Block:
    """`/requests verify`: what exactly was checked, what was found, and what this cannot show."""
    one = found.request
    verdict = "all checks passed" if found.holds else "SOMETHING WAS CHANGED"
    blocks = [b.header(f"{one.id}: {verdict}"), b.plain_section(one.summary)]
    for check in found.checks:
        mark = "✓" if check.holds else "✗"
        blocks.append(b.section(f"{mark} *{b.said(check.what)}:* {b.said(b.cut(check.found, 1200))}."))
    if not found.holds:
        blocks.append(
            b.section(
                "*▲ Somebody changed the database outside Countersign.* Keep a copy of it before anything else, tell an"
                " admin, and run `countersign audit verify`."
            )
        )
    at = b.when(found.checked_at, "{date_short_pretty} {time_secs}")
    blocks.append(
        b.context(
            f"checked {at} with the master key · not checked: whether the newest entries were cut off, which audit"
            " anchors kept elsewhere show"
        )
    )
    return b.message(f"{b.esc(one.id)}: {verdict}", blocks)
