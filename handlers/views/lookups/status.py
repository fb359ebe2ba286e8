"""The state of Countersign in words: `/countersign status`, what-if, and the lines Home shares with them."""

from __future__ import annotations

from decimal import Decimal

from bot.domain.money import exact_sum, format_usd
from bot.domain.people import APPROVAL_VALID_IN_WORDS
from bot.view_models import AlertView, Freshness, ProgramState, StatusView, WhatIfView
from handlers.views import blocks as b
from handlers.views import ids

SEVERITY_ICONS = {"info": "○", "warning": "▲", "critical": "✗"}
_SIGNING = {
    "current": "its secret is stored here",
    "previous": "its secret is stored here",
    "lost": "*its secret is lost*: rotate it",
    "none": "no secret is stored here",
}
_ALERTS = 8


def status(found: StatusView, *, may_pause: bool) -> b.Block:
    """Float, requests, alerts, funding, webhook, poller and sending, each with its age."""
    blocks = [b.header("Status")]
    for state in found.programs:
        blocks += _program(state, found.trouble.get(state.program, ""))
    blocks.append(b.section(f"*Open requests* {_requests(found)}"))
    approvals = found.approvals.text or "nothing was requested"
    blocks.append(b.section(f"*Approvals in the last 30 days* {b.said(approvals)}"))
    blocks += alerts_in_brief(found.alerts, _ALERTS)
    blocks.append(b.context(f"as of {b.when(found.at, '{date_short_pretty} {time_secs}')}"))
    blocks += pause_buttons(found.programs) if may_pause else []
    paused = sum(1 for state in found.programs if state.paused)
    text = f"{b.counted(len(found.alerts), 'open alert')}, {b.counted(sum(found.requests.values()), 'open request')}"
    drafts = any(state.draft_only for state in found.programs)
    first = "DRAFT ONLY · " if drafts else ""
    return b.message(f"{first}Status: {text}{', sending is paused' if paused and not drafts else ''}", blocks)


def _program(state: ProgramState, trouble: str) -> list[b.Block]:
    name = f"*{b.esc(state.program)}* · {b.money(state.live, draft_only=state.draft_only)}"
    blocks = [b.section(f"{name} · {sending(state)}")]
    lines = [
        ("Float", float_in_brief(state)),
        ("Cards", cards_in_brief(state)),
        ("Funding under way", funding_in_brief(state)),
    ]
    blocks += b.pairs(lines)
    if trouble:
        blocks.append(b.section(f"*▲ The float could not be read just now:* {b.said(trouble)}"))
    blocks.append(b.context(webhook(state)))
    blocks.append(b.context(freshness(state.fresh)))
    return blocks


def sending(state: ProgramState) -> str:
    return f"*✗ {b.said(state.paused)}*" if state.paused else "✓ requests are sent"


def float_in_brief(state: ProgramState) -> str:
    money = state.float
    if money is None:
        return "not read yet"
    committed = (
        f", {format_usd(money.pending_usd)} held by {b.counted(money.pending_count, 'pending request')}"
        if money.pending_count
        else ""
    )
    return f"{format_usd(money.balance_usd)}, {format_usd(money.available_usd)} available{committed}"


def cards_in_brief(state: ProgramState) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in state.cards.items()) or "none known"


def funding_in_brief(state: ProgramState) -> str:
    if not state.funding:
        return "none"
    known_usd = exact_sum(f.amount_usd or Decimal(0) for f in state.funding)
    in_review = sum(1 for f in state.funding if f.status == "review")
    review = f", {in_review} in review" if in_review else ""
    return f"{len(state.funding)}{review}, {format_usd(known_usd)} verified"


def webhook(state: ProgramState) -> str:
    last = f"last delivery {b.when(state.last_delivery_at)}" if state.last_delivery_at else "no delivery yet"
    return f"Webhook: {last}; {_SIGNING[state.signing]}"


def freshness(parts: tuple[Freshness, ...]) -> str:
    """When each part was read last, as each reader's clock says it."""
    said = [f"{p.what} {b.when(p.at, '{time_secs}')}" if p.at else f"{p.what} *never*" for p in parts]
    return f"Read last: {' · '.join(said)}"


def _requests(found: StatusView) -> str:
    if not found.requests:
        return "none"
    counted = ", ".join(f"{count} {state}" for state, count in sorted(found.requests.items()))
    oldest = (
        f", the oldest pending since {b.when(found.oldest_waiting_at)}" if found.oldest_waiting_at else ""
    )
    return f"{counted}{oldest}"


def alerts_in_brief(found: tuple[AlertView, ...], most: int) -> list[b.Block]:
    """One line for each open alert, the worst first, with since when."""
    if not found:
        return [b.section("*Open alerts* none")]
    lines = [
        f"{SEVERITY_ICONS.get(a.severity, '▲')} {b.esc(b.cut(a.title, 140))} · since {b.when(a.raised_at)}{_held(a)}"
        for a in found[:most]
    ]
    more = [f"and {len(found) - most} more: `/countersign alerts`"] if len(found) > most else []
    return [b.section("\n".join([f"*Open alerts* {len(found)}", *lines, *more]))]


def _held(alert: AlertView) -> str:
    return f" · {b.esc(alert.acknowledged_by)} is on it" if alert.acknowledged_by else ""


def pause_buttons(states: tuple[ProgramState, ...]) -> list[b.Block]:
    """Pause what runs, resume what people paused; their value is the program's name."""
    buttons = [
        b.button(f"Resume {s.program}", f"{ids.RESUME}:{s.program}", s.program, "primary")
        if s.may_resume
        else b.button(f"Pause {s.program}", f"{ids.PAUSE}:{s.program}", s.program, "danger")
        for s in states[:5]
    ]
    return [b.actions(buttons, "sending")] if buttons else []


def paused(programs: list[str], already: list[str]) -> b.Block:
    """The answer to whoever paused."""
    said = []
    if programs:
        said.append(
            f"✓ Sending to {', '.join(programs)} is paused. Requests and approvals continue; nothing is sent to your"
            " card provider. Two people resume it: `/countersign resume`."
        )
    if already:
        said.append(f"{', '.join(already)} was already paused.")
    text = " ".join(said)
    return b.message(b.said(text), [b.section(b.said(text))])


def pause_form(program: str) -> b.Block:
    """Why sending stops; the reason may be left out, since seconds may count."""
    element: b.Block = {"type": "plain_text_input", "multiline": True, "max_length": 1000}
    blocks = [
        b.section(
            f"Stop sending to *{b.esc(program)}* immediately? Requests and approvals continue; what is approved waits"
            f" at most {APPROVAL_VALID_IN_WORDS}. Two people are needed to resume."
        ),
        b.field("reason", "Reason", element, optional=True),
    ]
    return b.modal(ids.PAUSE_FORM, "Pause sending", blocks, submit="Pause", meta=ids.pack(program=program))


def handover_preview(text: str, post: str) -> b.Block:
    """What a hand-over would say, for who gives it alone, and the button that posts it by the command `post`."""
    blocks = [
        b.header("⇄ Hand-over: preview"),
        b.section(b.said_in_lines(text)),
        b.context("Nothing is posted yet. The next person presses *Accept* on it in the alerts channel."),
        b.actions([b.button("Post", f"{ids.TURN_PAGE}:post", ids.typed(post), "primary")]),
    ]
    return b.message("Your hand-over. Nothing is posted yet.", blocks)


def what_if(found: WhatIfView) -> b.Block:
    """The verdict, the figures behind it, and what would have to change."""
    head = f"{'✓' if found.fits else '✗'} {found.verdict}"
    blocks = [b.header(found.asked), b.section(b.esc(head)), b.table(("What", "How much"), found.lines)]
    blocks += [b.section(f"*▲* {b.said(text)}") for text in found.obstacles[:5]]
    money = f"{'LIVE' if found.live else 'SANDBOX'} ({b.esc(found.program)})"
    read = (
        f"float read from your card provider {b.when(found.float_read_at, '{date_short_pretty} {time_secs}')}"
    )
    blocks.append(b.context(f"{money} · {read} · fees read just now. This made no request."))
    return b.message(b.esc(head), blocks)
