"""The answers to look-ups and the short sentences after a decision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests import Request, State
from bot.operations._base import Operation
from bot.services.pictures import (
    AddressPicture,
    CardListPicture,
    CardPicture,
    FloatPicture,
    FundingPicture,
    InboxPicture,
    RequestPicture,
)
from handlers.views import blocks as b
from handlers.views import charts, ids, request, states
from handlers.views.sentences import explain, explain_slack, is_said

__all__ = ["explain", "explain_slack", "is_said"]

_ROWS = 25


def usd(amount: str | None) -> str:
    """Exact text as dollars; None is unknown, never zero."""
    return format_usd(None if amount is None else Decimal(amount))


def said(text: str) -> b.Block:
    """One sentence; `text` is plain, from wherever."""
    return b.message(b.esc(text), [b.section(b.esc(text))])


def refusal(text: str) -> b.Block:
    return b.message(f"✗ {b.esc(text)}", [b.section(f"*✗* {b.esc(text)}")])


def age(read_at: datetime | None) -> str:
    return (
        f"read from the API {b.when(read_at, '{date_short_pretty} {time_secs}')}" if read_at else "never read"
    )


def with_share(answer: b.Block, command: str) -> b.Block:
    """The answer with the button that shows it to the channel; `command` is asked again at the click."""
    share = b.actions([b.button("Share to channel", ids.SHARE, ids.typed(command))])
    return b.message(answer["text"], [*answer["blocks"], share])


def shared_by(answer: b.Block, slack_id: str) -> b.Block:
    return b.message(answer["text"], [*answer["blocks"], b.context(f"Shared by {b.mention(slack_id)}")])


def float_answer(found: FloatPicture) -> b.Block:
    """`/float`: what there is, what is spoken for, and when the API said so."""
    after = Decimal(found.available_usd) - Decimal(found.pending_usd)
    lines = [
        ("Balance", usd(found.balance_usd)),
        ("Available", usd(found.available_usd)),
        ("Pending requests", f"{usd(found.pending_usd)} in {found.pending_count}"),
        ("After all pending", format_usd(after)),
    ]
    if found.limit_usd is not None:
        lines.append(("Float limit", usd(found.limit_usd)))
    cap = "no cap" if found.cards_limit is None else f"of {found.cards_limit} for ever"
    lines.append(("Cards", f"{found.cards_active} active, {found.cards_total} ordered ({cap})"))
    blocks = [b.header(f"Float: {usd(found.balance_usd)}"), *b.pairs(lines)]
    if after < 0:
        blocks.append(
            b.section("*▲ The pending requests do not all fit.* Fund the float before they are approved.")
        )
    if found.history is not None:
        blocks += charts.float_chart(found.history)
    blocks.append(b.context(f"{_money(found.program, live=found.live)} · {age(found.read_at)}"))
    text = f"Float {usd(found.balance_usd)}, available {usd(found.available_usd)}"
    return b.message(text, blocks)


def _money(program: str, *, live: bool) -> str:
    return f"{'LIVE' if live else 'SANDBOX'} ({b.esc(program)})"


def card_answer(found: CardPicture) -> b.Block:
    """One card: status, balance, what is asked for it and what was."""
    name = f"{found.holder} ••{found.last4 or '????'}"
    lines = [
        ("Status", found.status or "not reported yet"),
        ("Balance", usd(found.balance_usd)),
        ("Reference", found.partner_ref or "–"),
        ("Card id", found.id),
    ]
    blocks = [b.header(name), *b.pairs(lines)]
    blocks += _listed("Open requests", found.open_requests)
    blocks += _listed("Earlier requests", found.history[:5])
    blocks.append(b.context(f"program {b.esc(found.program)} · {age(found.read_at)}"))
    return b.message(
        f"{b.esc(name)}: {b.esc(found.status or 'status unknown')}, {usd(found.balance_usd)}", blocks
    )


def card_list(found: CardListPicture) -> b.Block:
    """A page of the directory as a table."""
    kind = f"{found.status.lower()} " if found.status else ""
    head = b.counted(found.total, f"{kind}card")
    blocks = [b.header(head if found.pages == 1 else f"{head}, page {found.page} of {found.pages}")]
    if found.cards:
        rows = [
            (c.holder, f"••{c.last4 or '????'}", c.status or "–", usd(c.balance_usd), c.partner_ref or "–")
            for c in found.cards
        ]
        blocks.append(b.table(("Cardholder", "Card", "Status", "Balance", "Reference"), rows))
    else:
        blocks.append(b.section("No card is known here. Order one with `/card order`."))
    more = f" · next page: `/card list {kind}{found.page + 1}`" if found.page < found.pages else ""
    read = f"list {age(found.read_at)}" if found.read_at else "the list was not read from the API yet"
    blocks.append(b.context(f"{read}{more}"))
    return b.message(b.esc(head), blocks)


def funding_list(found: Sequence[FundingPicture], program: str) -> b.Block:
    """Submissions as a table, newest first."""
    head = b.counted(len(found), "funding submission")
    blocks = [b.header(head)]
    if found:
        rows = [
            (
                f.id,
                f.network,
                f"{f.tx_hash[:10]}…",
                f.status,
                usd(f.credited_usd or f.amount_usd),
                f.request_id or "–",
            )
            for f in found[:_ROWS]
        ]
        blocks.append(b.table(("Id", "Network", "Hash", "Status", "Amount", "Request"), rows))
    else:
        blocks.append(
            b.section("Nothing was submitted yet. Send to an address of `/funding addresses` first.")
        )
    if len(found) > _ROWS:
        blocks.append(b.context(f"The newest {_ROWS} are shown. See one with `/funding show ID-OR-HASH`."))
    blocks.append(b.context(f"program {b.esc(program)} · read from the API just now"))
    return b.message(head, blocks)


def funding_answer(found: FundingPicture) -> b.Block:
    lines = [
        ("Status", found.status),
        ("Network", found.network),
        ("Hash", found.tx_hash),
        ("Amount", f"{usd(found.amount_usd)}{f' in {found.token}' if found.token else ''}"),
        ("Load fee", usd(found.fee_usd)),
        ("Credited", usd(found.credited_usd)),
        ("Id", found.id),
        ("Request", found.request_id or "none of ours"),
    ]
    blocks = [b.header(f"Funding {found.status}: {found.network}"), *b.pairs(lines)]
    if found.words:
        blocks.append(b.section(b.esc(found.words)))
    credited = f" · credited {b.when(found.credited_at)}" if found.credited_at else ""
    blocks.append(b.context(f"submitted {b.when(found.created_at)}{credited}"))
    return b.message(f"Funding {b.esc(found.id)}: {b.esc(found.status)}", blocks)


def addresses(found: Sequence[AddressPicture], program: str) -> b.Block:
    """Where to send, read live at this moment."""
    blocks = [b.header("Funding addresses")]
    if found:
        rows = [(a.network, ", ".join(a.tokens), a.address) for a in found]
        blocks.append(b.table(("Network", "Tokens", "Address"), rows))
        blocks.append(
            b.section(
                "Send from a wallet the service has registered for you, at least 10 USD, one token a transfer. Then"
                " give the hash with `/funding submit`."
            )
        )
    else:
        blocks.append(
            b.section("No network takes funding just now. Ask again later; do not use an older address.")
        )
    blocks.append(
        b.context("Read from the API just now. Ask again each time: never send to a remembered address.")
    )
    return b.message("Funding addresses, read just now", blocks)


def inbox(found: InboxPicture) -> b.Block:
    """`/requests`: what waits for me, what I asked for, what was decided lately."""
    blocks = [b.header(f"{len(found.waiting)} waiting for you, {len(found.mine)} of yours open")]
    blocks += _listed("Waiting for you", found.waiting, "Nothing waits for you.")
    blocks += _listed("Yours", found.mine, "You have no open request.")
    blocks += _listed("Decided lately", found.recent[:5])
    blocks.append(b.context("`/requests show R-XXXX` · `/requests cancel R-XXXX`"))
    return b.message(f"{len(found.waiting)} waiting for you, {len(found.mine)} of yours open", blocks)


def _listed(title: str, rows: Sequence[Request], empty: str = "") -> list[b.Block]:
    if not rows:
        return [b.section(f"*{title}*\n{empty}")] if empty else []
    more = [b.context(f"and {len(rows) - 10} more")] if len(rows) > 10 else []
    return [b.section(f"*{title}*"), *(b.section(request.row(r)) for r in rows[:10]), *more]


def request_answer(found: RequestPicture) -> b.Block:
    one = found.request
    text = f"{b.esc(one.id)} {states.WORDS[one.state]}: {b.esc(one.summary)}"
    return b.message(text, request.details(found))


def request_modal(found: RequestPicture) -> b.Block:
    return b.modal(ids.NOTICE, found.request.id, request.details(found))


def review(cls: type[Operation], command: str) -> b.Block:
    """Answer to a wish said in a message: nothing happens before the form is submitted."""
    ask = b.button("Review and submit", ids.OPEN_FORM, ids.typed(command), "primary")
    text = f"{cls.verb}: check the fields, then submit. Nothing has been asked for yet."
    return b.message(b.esc(text), [b.section(b.esc(text)), b.actions([ask])])


def cancel(found: Request) -> b.Block:
    """Answer to a cancellation said in a message: it is done by pressing, not by saying."""
    press = b.button("Cancel", ids.CANCEL, ids.stamp(found.id, found.version), "danger")
    text = f"{b.esc(found.id)} is {states.WORDS[found.state]}: {b.esc(found.summary)}"
    return b.message(text, [b.section(text), b.actions([press])])


def submitted(found: Request, channel: str) -> b.Block:
    """The requester's own note; the receipt is the card in the approvals channel."""
    where = f"<#{channel}>" if channel else "the approvals channel"
    if found.break_glass:
        text = f"*{b.esc(found.id)}* acts now. It is in {where}; a second person has to confirm or undo it."
    else:
        text = f"*{b.esc(found.id)}* is pending in {where}: {b.esc(found.summary)}"
    return b.message(text, [b.section(text)])


def approved(found: Request, approvals: int) -> str:
    """The sentence in the confirmation modal once the approval is recorded."""
    text = f"✓ Approved. {approvals} of {found.approvals_needed}."
    if found.state is State.PENDING:
        return f"{text} {found.approvals_needed - approvals} more needed; nothing is sent before."
    return f"{text} It is being sent now; the outcome appears on the request."


def resolved(found: Request) -> str:
    if found.state is State.UNRESOLVED:
        return f"Recorded. {found.id} stays unresolved until a second person says the same."
    return f"{found.id} is {states.WORDS[found.state]} now, by the word of two people."
