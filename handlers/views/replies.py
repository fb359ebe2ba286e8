"""The answers to look-ups and the short sentences after a decision."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.domain.requests import Request, State, says_nothing_was_sent
from bot.operations import Operation, after_approval, urgency
from bot.view_models import RequestView
from handlers.views import blocks as b
from handlers.views import ids
from handlers.views.error_messages import (
    explain,
    explain_database,
    explain_end_of_log,
    explain_held,
    explain_slack,
    explain_stored,
    is_said,
)
from handlers.views.requests import request_card, states

__all__ = [
    "explain",
    "explain_database",
    "explain_end_of_log",
    "explain_held",
    "explain_slack",
    "explain_stored",
    "is_said",
]

_BUTTONS = "answer:buttons"

_NAMES = 10  # in one line


def said(text: str) -> b.Block:
    """One sentence; `text` is plain, from wherever."""
    return b.message(b.said(text), [b.section(b.said(text))])


def refusal(text: str) -> b.Block:
    return b.message(f"✗ {b.said(text)}", [b.section(f"*✗* {b.said(text)}")])


def age(read_at: datetime | None) -> str:
    return (
        f"read from your card provider {b.when(read_at, '{date_short_pretty} {time_secs}')}"
        if read_at
        else "never read"
    )


def money_of(program: str, *, live: bool) -> str:
    """Whose money it is, and whether it is real."""
    return f"{'LIVE' if live else 'SANDBOX'} ({b.esc(program)})"


def listed(title: str, rows: Sequence[Request], empty: str = "") -> list[b.Block]:
    """Requests one under the other, ten of them; `empty` is said where there are none."""
    if not rows:
        return [b.section(f"*{title}*\n{empty}")] if empty else []
    more = [b.context(f"and {len(rows) - 10} more")] if len(rows) > 10 else []
    return [b.section(f"*{title}*"), *(b.section(request_card.row(r)) for r in rows[:10]), *more]


def with_buttons(answer: b.Block, buttons: Sequence[b.Block]) -> b.Block:
    """The answer with more buttons in its last row, which is for all of them."""
    if not buttons:
        return answer
    blocks = list(answer["blocks"])
    own = blocks.pop()["elements"] if blocks[-1].get("block_id") == _BUTTONS else []
    return b.message(answer["text"], [*blocks, b.actions([*own, *buttons], _BUTTONS)])


def pages(command: str, page: int, of: int) -> list[b.Block]:
    """Buttons to the page before and the page after, where there are any; `command` asks for the answer."""
    found = []
    if page > 1:
        found.append(b.button("Back", f"{ids.TURN_PAGE}:back", ids.typed(f"{command} page {page - 1}")))
    if page < of:
        found.append(b.button("More", f"{ids.TURN_PAGE}:on", ids.typed(f"{command} page {page + 1}")))
    return found


def pages_beside(command: str, page: int, rows: Sequence[str], *, has_more: bool) -> list[b.Block]:
    """The same where each page begins beside the last row of the other: `rows` are the ids of those on this one."""
    found = []
    if page > 1 and rows:
        back = ids.typed(f"{command} page {page - 1} before {rows[0]}")
        found.append(b.button("Back", f"{ids.TURN_PAGE}:back", back))
    if has_more and rows:
        on = ids.typed(f"{command} page {page + 1} after {rows[-1]}")
        found.append(b.button("More", f"{ids.TURN_PAGE}:on", on))
    return found


def with_share(answer: b.Block, command: str) -> b.Block:
    """The answer with the button that shows it to the channel; `command` is asked again at the click."""
    return with_buttons(answer, [b.button("Share to channel", ids.SHARE, ids.typed(command))])


def shared_by(answer: b.Block, name: str) -> b.Block:
    return b.message(answer["text"], [*answer["blocks"], b.context(f"Shared by {b.esc(name)}")])


def request_answer(found: RequestView, able: Sequence[str] = ()) -> b.Block:
    """One request with everything about it. `able`: the names of those who can decide on it now."""
    one = found.request
    text = f"{b.esc(one.id)} {states.word_of(one)}: {b.esc(one.headline)}"
    blocks = request_card.details(found)
    if one.state is State.PENDING:
        who = ", ".join(able[:_NAMES]) or "nobody right now"
        more = f" and {len(able) - _NAMES} more" if len(able) > _NAMES else ""
        blocks.append(b.section(f"*Can approve it:* {b.esc(who)}{more}. It needs {one.approvals_needed}."))
    return b.message(text, blocks)


def request_modal(found: RequestView) -> b.Block:
    return b.modal(ids.NOTICE, found.request.id, request_card.details(found))


def review(cls: type[Operation], command: str) -> b.Block:
    """Answer to a request said in a message: nothing happens before the form is submitted."""
    ask = b.button("Review and submit", ids.OPEN_FORM, ids.typed(command), "primary")
    text = f"{cls.verb}: check the fields, then submit. Nothing has been requested yet."
    return b.message(b.said(text), [b.section(b.said(text)), b.actions([ask])])


def cancel(found: Request) -> b.Block:
    """Answer to a cancellation said in a message: it is done by pressing, not by saying."""
    press = b.button("Cancel", ids.CANCEL, ids.stamp(found.id, found.version), "danger")
    text = f"{b.esc(found.id)} is {states.word_of(found)}: {b.esc(found.headline)}"
    return b.message(text, [b.section(text), b.actions([press])])


def cancelled(found: Request) -> str:
    """What a cancellation did; a batch that was under way may have rows that were sent."""
    if found.state is State.CANCELLED and not says_nothing_was_sent(found.outcome_text):
        return f"{found.id} is cancelled. {found.outcome_text}"
    if found.state is State.CANCELLED:
        return f"{found.id} is cancelled. Nothing of it was sent."
    rows = "rows that were not sent yet will not be sent. " if found.is_batch else ""
    return f"{found.id}: {rows}{found.outcome_text}".strip()


def submitted(found: Request, channel: str, paused: str = "", trouble: str = "") -> b.Block:
    """The requester's own note; the receipt is the card in the approvals channel. `paused`: nothing is sent.
    `trouble`: why nothing can be posted in that channel, in sentences.
    """
    where = b.channel(channel)
    if found.break_glass and paused:
        text = f"*✗ {b.esc(found.id)} is not sent.* {b.esc(urgency.while_paused(found.kind, paused))} It is in {where}."
    elif found.break_glass:
        what = b.esc(found.headline)
        text = f"*{b.esc(found.id)}* is being sent now: {what}. Its message in {where} shows when it is done."
    else:
        there = "" if trouble else f" in {where}"
        text = f"*{b.esc(found.id)}* is pending{there}: {b.esc(found.headline)}"
        if paused:
            text += f"\n{b.said(urgency.while_paused(found.kind, paused))}"
    if trouble:
        text += (
            f"\n*It is recorded, and could not be posted in {where} yet.* {b.said(trouble)} It is posted there as soon"
            " as Slack takes it. Approvers see it on their Home tab meanwhile."
        )
    return b.message(text, [b.section(text)])


def approved(
    found: Request,
    approvals: int,
    paused: str = "",
    waits_for: Sequence[str] = (),
    *,
    sent_from: datetime | None = None,
    unread: bool = False,
) -> str:
    """The sentence in the confirmation modal once the approval is recorded.

    `unread`: the API could not be read for the window, as it has to be before anything is sent.
    """
    then = after_approval.follows(found, approvals, paused, waits_for, sent_from=sent_from, unread=unread)
    return f"✓ You approved it: {approvals} of {found.approvals_needed}. {then}"


def resolved(found: Request) -> str:
    if found.state is State.UNRESOLVED:
        return (
            f"Recorded. {found.id} stays unresolved until a second person records the same. You can correct your"
            " answer with “Resolve”."
        )
    return f"{found.id} has ended: {states.word_of(found)}, confirmed by two people."
