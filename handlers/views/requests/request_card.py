"""A request as people see it: its card in each state, its thread, the requester's direct message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot import operations
from bot.domain.ids import short_code
from bot.domain.money import format_usd
from bot.domain.requests import (
    HEADLINE,
    OPEN,
    SENT,
    UNSENT,
    Decision,
    DecisionKind,
    Request,
    Stage,
    State,
    is_of_before,
    needs_confirmation,
)
from bot.operations import after_approval, urgency
from bot.view_models import DirectView, LineView, RequestView, ResultsView
from handlers.views import blocks as b
from handlers.views import ids
from handlers.views.requests import batch_rows, forms, states

_ENDED_UNDONE = frozenset({State.REJECTED, State.CANCELLED, State.EXPIRED, State.FAILED})
EVIDENCE_LIMIT = 1000
_PLEASE_CONFIRM = "please confirm this, or undo it. It was done without an approval."


def card(view: RequestView) -> b.Block:
    """The message in the approvals channel, redrawn in place through every state."""
    request = view.request
    blocks = [b.header(f"{_heading(view)}: {request.headline}"), b.section(title_line(view))]
    if len(request.headline) > HEADLINE:
        blocks.append(b.plain_section(request.headline))
    blocks += not_yet(view.waiting, view.paused)
    blocks += b.pairs(_facts(view))
    blocks += batch_rows.on_card(view)
    if request.state is State.PENDING:
        blocks += forms.concerns(view.concerns)
    if view.waits_for or view.waiting:
        pass
    elif is_held_back(request):
        blocks.append(b.section(held_back(request)))
    elif request.outcome_text:
        blocks.append(b.section(outcome(request)))
    if view.sent_from is not None:
        blocks.append(b.section(cools_off(view.sent_from)))
    if view.paused and not view.waiting:
        blocks.append(b.section(waits(view)))
    elif view.waits_for:
        blocks.append(
            b.section(_waits_until(request, f"*▲ {b.said(after_approval.goes_first(view.waits_for))}*"))
        )
    if asked := _asked_of(view):
        blocks.append(b.section(asked))
    blocks.append(b.context(" · ".join(_policy(view))))
    blocks.append(b.actions(_buttons(view), f"request:{request.id}"))
    return b.message(_first_line(view), blocks)


def _heading(view: RequestView) -> str:
    """The badge; what was done at once also says that a second person is needed, and a batch that it is not done."""
    badge = states.heading_of(view.request)
    if waits_for_confirmation(view):
        return f"{badge}, needs a second person"
    if view.waiting and view.request.is_batch:
        return f"{states.NOT_YET_ICON} {_not_yet_word(view.waiting)} · {view.request.state.value}"
    return badge


def _not_yet_word(waiting: Sequence[Request]) -> str:
    """`Not frozen yet`, and of how many cards where they are several."""
    word = urgency.not_yet(waiting[0])
    return word if len(waiting) == 1 else f"{word}: {len(waiting)} cards"


def not_yet(waiting: Sequence[Request], paused: str = "") -> list[b.Block]:
    """What has not happened, what that means, what the bot does next and when, and what to do meanwhile.

    Nothing where nothing waits. `waiting` are a request itself or rows of one batch.
    """
    if not waiting:
        return []
    first = waiting[0]
    words = urgency.urgency_of(first.kind)
    advice = words.advice if words else ""
    next_step = (
        b.said(urgency.while_stopped(paused))
        if paused
        else urgency.next_try(first, lambda at: b.when(at, "{time_secs}"))
    )
    try_now = "" if paused else " Press *Try now* to try at once."
    names = [row.subject_label for row in waiting if row.parent_id is not None]
    blocks = (
        [b.section(f"*{_not_yet_word(waiting)}:* {b.esc(b.cut(', '.join(names), 1000))}")] if names else []
    )
    blocks.append(b.section(b.said(b.cut(first.outcome_text or (words.perhaps if words else ""), 1500))))
    return [*blocks, b.section(f"{next_step}{try_now} {b.said(advice)}")]


def is_held_back(request: Request) -> bool:
    """Approved, and what is checked before it is sent could not be: it waits."""
    return request.state is State.APPROVED and bool(request.outcome_text)


def held_back(request: Request) -> str:
    """That it is not sent yet, why, and for how long it is tried."""
    until = request.valid_until
    end = f" It is tried until {b.when(until, '{time}')}, then it ends and nothing is sent." if until else ""
    return f"*▲ It is not sent yet.* {b.said(b.cut(request.outcome_text, 2000))}{end}"


def cools_off(sent_from: datetime) -> str:
    """That it is approved and sent later, and who can stop it until then."""
    return f"*◷ It is sent at {b.when(sent_from, '{time}')}.* Until then any approver can stop it."


def waits(view: RequestView) -> str:
    """That nothing is sent just now, and for how long an approval waits for it."""
    return _waits_until(view.request, f"*▲ {b.said(view.paused)}* Decisions continue.")


def _waits_until(request: Request, why: str) -> str:
    is_urgent = urgency.urgency_of(request.kind) is not None
    until = None if is_urgent else request.valid_until
    if request.outcome_unknown and request.state not in UNSENT:
        until = None  # it ends with what is found
    then = "it ends and nothing is sent" if request.state in UNSENT else "nothing more is sent"
    end = f" It waits until {b.when(until, '{time}')}, then {then}." if until else ""
    return f"{why}{end}"


def title_line(view: RequestView) -> str:
    """Id, state, who asked, and whether real money moves."""
    request = view.request
    now = f" · *{operations.run_now_label(request.kind)}*" if request.break_glass else ""
    return (
        f"*{b.esc(request.id)}* · {states.word_of(request)}{now} · requested by {b.esc(request.requester_name)}"
        f" · {b.money(view.live, draft_only=view.draft_only)} ({b.esc(request.program)})"
    )


def _facts(view: RequestView) -> list[b.Line]:
    request = view.request
    lines = [("Reason", request.reason), *view.lines]
    if request.exposure_usd:
        lines.insert(0, ("Amount", format_usd(request.exposure_usd)))
    if request.subject_label:
        lines.insert(0, ("Card", request.subject_label))
    return lines


def _first_line(view: RequestView) -> str:
    """What a phone shows: who wants what, or what came of it, and who is asked."""
    request = view.request
    money = b.money(view.live, draft_only=view.draft_only)
    asked = _asked_of(view)
    if request.state is State.PENDING:
        text = f"{b.esc(request.requester_name)} requests: {b.esc(request.headline)}"
        return f"{money} · {text}. {asked} {b.esc(request.id)} is pending."
    return f"{money} · {_news(request)}{'. ' + asked if asked else ''}"


def _news(request: Request) -> str:
    """Where it stands, in one line without its details; with its id and state as scripts and search look for them."""
    return f"{states.heading_of(request)}: {b.esc(request.headline)} ({b.esc(request.id)} {request.word})"


def _asked_of(view: RequestView) -> str:
    """Who is asked to do what, with the mentions that call them; empty where nobody has to act."""
    request = view.request
    called = b.calls(view.mentions) or ", ".join(b.esc(name) for name in view.approver_names)
    if request.state is State.PENDING:
        missing = request.approvals_needed - len(approvals(view.decisions))
        who = _needed(missing, request, view.decisions)
        return f"{called}: please review. {who} Expires {b.when(request.expires_at)}."
    return f"{called}: {_PLEASE_CONFIRM}" if waits_for_confirmation(view) else ""


def _needed(missing: int, request: Request, decisions: tuple[Decision, ...]) -> str:
    """How many approvals are missing, and whose do not count."""
    given = [b.esc(decision.actor_name) for decision in approvals(decisions)]
    what = b.counted(missing, "more approval" if given else "approval")
    others = " and ".join([b.esc(request.requester_name), *given])
    return f"{what} {'is' if missing == 1 else 'are'} needed, from somebody other than {others}."


def approvals(decisions: tuple[Decision, ...]) -> list[Decision]:
    return [d for d in decisions if d.kind is DecisionKind.APPROVE]


def _policy(view: RequestView) -> list[str]:
    """Who has to do what by when, in the words of the state."""
    request = view.request
    given = approvals(view.decisions)
    needed = b.counted(request.approvals_needed, "approval")
    parts = [f"{len(given)} of {needed}" + "".join(f" · {b.esc(d.actor_name)} ✓" for d in given)]
    if request.break_glass:
        parts = [_confirmed(view)]
    if request.state in (State.EXECUTING, State.UNRESOLVED) and view.next_look_at and not view.waiting:
        parts.append(f"next check {b.when(view.next_look_at, '{time_secs}')}")
    parts += [f"check code {b.esc(view.code)}", f"requested {b.when(request.created_at)}"]
    return [*parts, f"<{view.alert_link}|open the alert>"] if view.alert_link else parts


def _confirmed(view: RequestView) -> str:
    """Who had it done at once, and who confirmed it."""
    requester = b.esc(view.request.requester_name)
    done = next((d for d in view.decisions if d.kind is DecisionKind.CONFIRM), None)
    if done:
        return f"done immediately by {requester}, confirmed by {b.esc(done.actor_name)}"
    if view.request.state is State.SUCCEEDED:
        return f"done immediately by {requester}"
    if view.request.first_sent_at is None:
        return f"to be sent without an approval, for {requester}"
    return f"sent by {requester} without an approval"


def waits_for_confirmation(view: RequestView) -> bool:
    """A Freeze now that happened and that no second person has confirmed."""
    return needs_confirmation(view.request, view.decisions)


def _buttons(view: RequestView) -> list[b.Block]:
    """At most three, and the rest under the dots. Their value is the id and the version, nothing else."""
    request = view.request
    stamp = ids.stamp(request.id, request.version)
    found: list[b.Block] = []
    if request.state is State.PENDING:
        found += [
            b.button("Approve", ids.APPROVE, stamp, "primary"),
            b.button("Reject", ids.REJECT, stamp, "danger"),
        ]
    if view.sent_from is not None:
        found.append(b.button("Stop", ids.REJECT, stamp, "danger"))
    if view.waiting and not view.paused:
        found.append(b.button("Try now", ids.TRY_NOW, stamp, "primary"))
    if waits_for_confirmation(view):
        found.append(b.button("Confirm", ids.CONFIRM, stamp, "primary"))
    if _can_be_undone(view):
        found.append(b.button("Undo", ids.UNDO, stamp, "danger"))
    if request.is_batch:
        found.append(b.button("Rows", ids.BULK_ROWS, stamp))
    elif request.state is State.UNRESOLVED:
        found.append(b.button("Resolve", ids.RESOLVE, stamp))
    if request.state in _ENDED_UNDONE and (view.batch is None or view.batch.can_be_asked_again):
        found.append(b.button("Request again", ids.AGAIN, stamp))
    if view.can_be_cancelled or request.state in UNSENT or _can_be_stopped(request):
        options = [
            b.option("Details", f"details:{stamp}"),
            b.option("Cancel", f"cancel:{stamp}", "Only for the requester"),
        ]
        return [*found, b.overflow(ids.MORE, options)]
    return [*found, b.button("Details", ids.DETAILS, stamp)]


def _can_be_undone(view: RequestView) -> bool:
    """A Freeze now that was sent: undoing one that has not happened yet ends its tries."""
    request = view.request
    sent = request.break_glass and request.state in SENT and request.state is not State.FAILED
    return sent and not any(d.kind is DecisionKind.CONFIRM for d in view.decisions)


def _can_be_stopped(request: Request) -> bool:
    """A batch that is under way: its rows that were not sent yet need not be."""
    return request.is_batch and request.state is State.EXECUTING


def outcome(request: Request) -> str:
    """What came of it."""
    return _outcome(states.heading_of(request), request.outcome_text)


def _outcome(head: str, text: str) -> str:
    return f"*{head}.* {b.said(b.cut(text, 2000))}"


# Who did what no person did.
_NOBODY = "Countersign"
_LINES = {
    "rejected": "⊘ Rejected by {actor}. Nothing was sent.",
    "cancelled": "○ Cancelled by {actor}. Nothing was sent.",
    "withdrawn": "○ Cancelled by {actor}. Your card provider had not carried it out.",
    "voided": "▲ Void: an older copy of the database was put in place. What happened to it before is not known.",
    "ended_in_doubt": "▲ Ended by {actor}. While it waited an older copy of the database was put in place, or another"
    " copy was used: it may have been carried out.",
    "ended_unread": "▲ Ended by {actor}. Countersign does not know whether another copy of its database sent it.",
    "debited": "▲ Money left the float under its key all the same, and nothing was sent for it from here.",
    "expired": "◌ Expired. Nothing was sent.",
    "left_out": "○ {actor} left rows out before the approval.",
    "stopped": "○ {actor} stopped the rest. Rows already sent continue.",
    "executing": "➤ Sent to your card provider. Waiting for the answer.",
    "landed_late": "▲ It completed late: Countersign had recorded it as failed.",
    "contradicted": "▲ Your card provider does not show what two people confirmed. Their confirmation is kept.",
    "returned": "▲ The money came back to the float after this had succeeded.",
    "confirmed": "✓ {actor} confirmed the freeze.",
    "try_now": "➤ {actor} pressed *Try now*.",
    "opened": "✓ {actor} opened the card details.",
    "unopened": "◌ The link was not opened: nobody saw the card details.",
    "reminder_unresolved": "▲ The outcome is still not known. Do not request it again. Look at the card and the"
    " ledger, send the text in the alert to your card provider, then press *Resolve*.",
    "resolution": "▲ {actor} recorded how it ended. A second person has to record the same. One of the two has to be"
    " an approver who did not request it.",
    "resolution_corrected": "▲ {actor} corrected the recorded outcome. Each person's newest answer counts.",
}


# Lines that say what came of it, by the word they have in storage.
_OUTCOMES: Mapping[str, State | Stage] = {
    word.value: word for word in (State.SUCCEEDED, State.FAILED, State.UNRESOLVED, *Stage)
}


def line(view: LineView) -> b.Block:
    """One line of the thread, which is the timeline and the receipt."""
    request = view.request
    text = _line_text(view)
    blocks = [b.section(text)]
    said = _said(view)
    if said:
        blocks.append(b.plain_section(said, EVIDENCE_LIMIT))
    return b.message(
        f"{b.money(view.live, draft_only=view.draft_only)} · {b.esc(request.id)}: {text}", blocks
    )


def _line_text(view: LineView) -> str:
    request = view.request
    if view.line == "approval":
        nth = f"{_nth(view)} of {request.approvals_needed}"
        return f"✓ Approved by {b.esc(view.actor)}: {nth}.{_one_more(view)}"
    if view.line == "reminder":
        return _reminder(view)
    if view.line in _OUTCOMES:
        word = _OUTCOMES[view.line]
        is_now = request.is_batch or word is (request.stage or request.state)
        head = states.heading_of(request) if is_now else states.heading(word, request.kind)
        asked = f" {b.calls(view.mentions)}: {_PLEASE_CONFIRM}" if view.mentions else ""
        return _outcome(head, view.text or request.outcome_text) + asked
    if view.line == "not_yet":
        return _not_yet_line(view)
    if view.line == "for_now":
        return f"*{states.NOT_YET_ICON}* {b.said(b.cut(view.text, 2000))}"
    urgent = urgency.urgency_of(request.kind)
    if view.line == "reminder_unresolved" and urgent:
        text = f"{states.NOT_YET_ICON} *{urgent.not_yet}.* {b.said(urgent.perhaps)} {b.said(urgent.advice)}"
        return f"{_called(view)}{text}"
    known = _LINES.get(view.line)
    if known:
        return _called(view) + known.format(actor=b.esc(view.actor) or _NOBODY)
    return f"{b.esc(view.line.replace('_', ' ').capitalize())}."


def _not_yet_line(view: LineView) -> str:
    """As things were at the first failed try."""
    words = urgency.urgency_of(view.request.kind)
    return f"*{states.NOT_YET_ICON} {words.not_yet if words else ''}.* {b.said(b.cut(view.text, 2000))}"


def _called(view: LineView) -> str:
    """The mentions that a line begins with."""
    return f"{b.calls(view.mentions)}: " if view.mentions else ""


def _nth(view: LineView) -> int:
    """Which approval this person gave."""
    given = approvals(view.decisions)
    return next((n for n, d in enumerate(given, 1) if d.actor_name == view.actor), len(given))


def _missing(view: LineView) -> int:
    return view.request.approvals_needed - len(approvals(view.decisions))


def _one_more(view: LineView) -> str:
    """The next approval of several is asked for."""
    if view.request.state is not State.PENDING or _missing(view) < 1:
        return ""
    names = b.calls(view.mentions) or ", ".join(b.esc(n) for n in view.approver_names)
    return f" {names}: please review. {_needed(_missing(view), view.request, view.decisions)}"


def _reminder(view: LineView) -> str:
    """Who is still asked for what."""
    request = view.request
    names = b.calls(view.mentions) or ", ".join(b.esc(n) for n in view.approver_names)
    if request.break_glass:
        return f"◷ {names}: this is still not confirmed. A second person has to confirm it, or undo it."
    who = _needed(_missing(view), request, view.decisions)
    return f"◷ {names}: this is still waiting. {who} Expires {b.when(request.expires_at)}."


def _said(view: LineView) -> str:
    """The words of a person that belong to the line: a rejection's reason, a resolution's evidence."""
    if view.line == "rejected":
        return next((d.reason for d in view.decisions if d.kind is DecisionKind.REJECT), view.text)
    if view.line in _OUTCOMES or view.line in ("not_yet", "for_now"):
        return ""
    return view.text


def results(view: ResultsView) -> b.Block:
    """The words beside a batch's file of results."""
    text = f"{b.money(view.live, draft_only=view.draft_only)} · {b.said(view.text)}"
    return b.message(text, [b.plain_section(view.text)])


def direct(view: DirectView) -> b.Block:
    """To the requester alone: what became of it."""
    request = view.request
    blocks = [b.section(f"*{states.heading_of(request)}:* your request *{b.esc(request.id)}*")]
    blocks.append(b.plain_section(request.headline))
    if view.waiting:
        blocks += not_yet(view.waiting, view.paused)
    elif is_held_back(request) and not view.paused:
        blocks.append(b.section(held_back(request)))
    elif request.outcome_text and request.state is not State.APPROVED:
        blocks.append(b.section(b.said(b.cut(request.outcome_text, 2000))))
    elif request.state is State.APPROVED:
        if view.paused:
            then = f"It waits: {b.said(view.paused)}"
        elif view.waits_for:
            then = b.said(after_approval.goes_first(view.waits_for))
        elif view.sent_from is not None:
            then = cools_off(view.sent_from)
        else:
            then = "Countersign is sending it. The outcome follows here."
        blocks.append(b.section(f"{b.esc(view.actor)} gave the last approval. {then}"))
    elif view.channel:
        blocks.append(b.section(_posting(view)))
    link = f" · <{view.link}|open the request>" if view.link else ""
    blocks.append(b.context(f"check code {b.esc(view.code)}{link}"))
    if view.waiting and not view.paused:
        try_now = b.button("Try now", ids.TRY_NOW, ids.stamp(request.id, request.version), "primary")
        blocks.append(b.actions([try_now], f"direct:{request.id}"))
    return b.message(f"{b.money(view.live, draft_only=view.draft_only)} · {_news(request)}", blocks)


def _posting(view: DirectView) -> str:
    """Whether its card is in the approvals channel."""
    where = b.channel(view.channel)
    if not view.unposted:
        return f"It is in {where} now and can be approved there."
    return (
        f"*It could not be posted in {where} yet.* {b.said(view.unposted)} Countersign keeps trying and says here"
        " when it is posted. Approvers see it on their Home tab meanwhile."
    )


def details(view: RequestView) -> list[b.Block]:
    """Everything about a request: terms, decisions, times. For `/requests show` and the Details modal."""
    request = view.request
    blocks = [b.header(f"{request.id}: {request.headline}"), b.section(title_line(view))]
    times = [
        ("Requested", request.created_at),
        ("Expires", request.expires_at),
        ("Approved", request.approved_at),
    ]
    times += [("First sent", request.first_sent_at), ("Finished", request.finished_at)]
    if request.needs_whole_summary:
        blocks.append(b.plain_section(request.summary))
    blocks += b.pairs(_facts(view))
    shown = [f"*{label}* {b.when(at, '{date_short_pretty} {time_secs}')}" for label, at in times if at]
    blocks.append(b.section("\n".join(shown)))
    blocks += [_decision(d, request) for d in view.decisions[:20]]
    if request.outcome_text:
        blocks.append(b.section(outcome(request)))
    policy = b.esc(request.policy_version[:12])
    sent = f" · {b.counted(request.attempts, 'attempt')}" if request.attempts else ""
    blocks.append(b.context(f"check code {b.esc(short_code(request.digest))} · policy {policy}{sent}"))
    return blocks


_DECIDED = {
    DecisionKind.APPROVE: "✓ approved by",
    DecisionKind.REJECT: "⊘ rejected by",
    DecisionKind.BREAK_GLASS: "➤ sent without an approval by",
    DecisionKind.CONFIRM: "✓ confirmed by",
    DecisionKind.RESOLVE: "▲ resolution proposed by",
}


def _decision(decision: Decision, request: Request) -> b.Block:
    says = f" ({decision.verdict})" if decision.verdict else ""
    why = f": {b.esc(b.cut(decision.reason, 300))}" if decision.reason else ""
    at = b.when(decision.decided_at, "{date_short_pretty} {time_secs}")
    is_past = decision.kind is DecisionKind.RESOLVE and is_of_before(decision.decided_at, request)
    when = f"{at}, before this was reopened, so it no longer counts" if is_past else at
    return b.context(f"{_DECIDED[decision.kind]} {b.esc(decision.actor_name)}{says} {when}{why}")


def row(request: Request) -> str:
    """One request in a list."""
    until = f" · expires {b.when(request.expires_at)}" if request.state is State.PENDING else ""
    asked = "" if request.state not in OPEN else f" · requested {b.when(request.created_at)}"
    return (
        f"*{b.esc(request.id)}* · {states.badge_of(request)} · {b.esc(b.cut(request.headline, 160))}"
        f" · by {b.esc(request.requester_name)}{asked}{until}"
    )
