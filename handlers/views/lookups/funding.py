"""Funding as look-ups show it: submissions with the stuck ones first, one of them, where to send."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.ids import short_hash
from bot.domain.money import format_usd
from bot.view_models import AddressView, FundingView
from handlers.views import blocks as b
from handlers.views.lookups.float_and_ledger import in_hours
from handlers.views.replies import pages, with_buttons

ROWS = 25


def funding_list(
    found: Sequence[FundingView],
    program: str,
    command: str = "funding list",
    page: int = 1,
    about: str = "",
) -> b.Block:
    """Submissions as a table: those that are stuck first, then those on their way, then the newest.

    `about` says to which they are narrowed.
    """
    head = ": ".join(filter(None, (b.counted(len(found), "funding submission"), about)))
    of = max(1, -(-len(found) // ROWS))
    page = min(page, of)
    blocks = [b.header(head if of == 1 else f"{head}, page {page} of {of}")]
    stuck = [f for f in found if f.overdue or f.status == "review"]
    if stuck:
        words = "; ".join(f"{b.esc(f.id)}: {_stuck(f)}" for f in stuck[:5])
        blocks.append(b.section(f"*▲ {len(stuck)} to look at.* {words}"))
    if found:
        rows = [_row(f) for f in found[(page - 1) * ROWS : page * ROWS]]
        head_row = ("Id", "Network", "Hash", "Status", "Age", "Amount", "Request")
        blocks.append(b.table(head_row, rows))
    elif about:
        blocks.append(b.section("No submission fits. `/funding list` shows all."))
    else:
        blocks.append(
            b.section("Nothing was submitted yet. Send to an address of `/funding addresses` first.")
        )
    blocks.append(b.context(f"program {b.esc(program)} · read from your card provider just now"))
    return with_buttons(b.message(head, blocks), pages(command, page, of))


def _row(found: FundingView) -> tuple[str, ...]:
    age = "–" if found.age is None else in_hours(found.age)
    return (
        found.id,
        found.network,
        short_hash(found.tx_hash),
        found.word,
        age,
        format_usd(found.amount_usd if found.credited_usd is None else found.credited_usd),
        found.request_id or "–",
    )


def _stuck(found: FundingView) -> str:
    if found.status == "review":
        return f"in review. {b.said(found.words)}"
    usual = f", usually at most {in_hours(found.usual)}" if found.usual else ""
    return f"{b.esc(found.overdue)} on its way{usual}"


def funding_answer(found: FundingView, link: str = "") -> b.Block:
    """One submission. `link` is the address of its request's message, where there is one."""
    lines = [
        ("Status", found.word),
        ("Network", found.network),
        ("Hash", found.tx_hash),
        ("Amount", f"{format_usd(found.amount_usd)}{f' in {found.token}' if found.token else ''}"),
        ("Load fee", format_usd(found.fee_usd)),
        ("Credited", "not yet" if found.credited_usd is None else format_usd(found.credited_usd)),
        ("Id", found.id),
        ("Request", found.request_id or "none: not submitted here"),
    ]
    if found.age is not None and found.usual is not None:
        lines.append(
            ("Age", f"{in_hours(found.age)}; usually at most {in_hours(found.usual)} on {found.network}")
        )
    blocks = [
        b.header(f"{found.word[0].upper()}{found.word[1:]}: funding on {found.network}"),
        *b.pairs(lines),
    ]
    if found.words:
        blocks.append(b.section(b.said(found.words)))
    if found.overdue:
        blocks.append(
            b.section(
                f"*▲ Late:* {b.esc(found.overdue)}. Check the hash and the network in a block explorer. If the"
                " transfer is final there, contact your card provider. Do not send it again."
            )
        )
    if link:
        blocks.append(b.section(f"<{link}|Open the request>"))
    credited = f" · credited {b.when(found.credited_at)}" if found.credited_at else ""
    blocks.append(
        b.context(f"submitted {b.when(found.created_at)}{credited} · read from your card provider just now")
    )
    return b.message(f"Funding {b.esc(found.id)}: {b.esc(found.word)}", blocks)


def addresses(found: Sequence[AddressView]) -> b.Block:
    """Where to send, read live now."""
    blocks = [b.header("Funding addresses")]
    if found:
        rows = [(a.network, ", ".join(a.tokens), a.address) for a in found]
        blocks.append(b.table(("Network", "Tokens", "Address"), rows))
        blocks.append(
            b.section(
                "Send from a wallet that your card provider has registered for you: at least 10 USD, one token in each"
                " transfer. Then submit the hash with `/funding submit`."
            )
        )
    else:
        blocks.append(
            b.section("No network takes funding just now. Look again later, and do not use an older address.")
        )
    blocks.append(
        b.context("Read from your card provider just now. Addresses can change: look them up each time.")
    )
    return b.message("Funding addresses, read just now", blocks)
