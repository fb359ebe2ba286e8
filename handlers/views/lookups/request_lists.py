"""Requests as look-ups show them: what waits for whom, a search, and the proofs of one."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from bot.domain.events import RequestPage
from bot.domain.money import format_usd
from bot.domain.requests import Request, Verification
from bot.view_models import InboxView
from handlers.views import blocks as b
from handlers.views.replies import listed, pages_beside, with_buttons
from handlers.views.requests import states


def inbox(found: InboxView) -> b.Block:
    """`/requests`: what waits for me, what I asked for, what was decided lately."""
    blocks = [b.header(f"{len(found.waiting)} waiting for you, {len(found.mine)} of yours open")]
    blocks += listed("Waiting for you", found.waiting, "Nothing waits for you.")
    blocks += listed("Yours", found.mine, "You have no open request.")
    blocks += listed("Decided lately", found.recent[:5])
    blocks.append(
        b.context(
            "`/requests show R-XXXX` · `/requests cancel R-XXXX` · `/requests verify R-XXXX` · `/requests unresolved`"
            " · `/requests topup last week` · `/requests all 30d`"
        )
    )
    return b.message(f"{len(found.waiting)} waiting for you, {len(found.mine)} of yours open", blocks)


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
        blocks.append(b.table(("Id", "State", "What", "Amount", "Requested by", f"Requested ({zone})"), rows))
    else:
        blocks.append(b.section("No request matches."))
    blocks.append(
        b.context("from Countersign's own database, just now · see one with `/requests show R-XXXX`")
    )
    buttons = pages_beside(command, found.page, [one.id for one in found.rows], has_more=found.has_more)
    return with_buttons(b.message(head, blocks), buttons)


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
        blocks.append(b.section(f"{mark} *{b.esc(check.what)}:* {b.esc(b.cut(check.found, 1200))}."))
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
