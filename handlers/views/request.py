"""A request as people see it: its card in each state, its thread, the requester's direct message, and
the modals in which others decide."""

from __future__ import annotations

from bot.domain.approvals import Decision, DecisionKind
from bot.domain.ids import short_code
from bot.domain.money import format_usd
from bot.domain.requests import OPEN, SENT, Request, State
from bot.services.pictures import Confirmation, DirectPicture, LinePicture, RequestPicture
from handlers.views import blocks as b
from handlers.views import forms, ids, states

_ENDED_UNDONE = frozenset({State.REJECTED, State.CANCELLED, State.EXPIRED, State.FAILED})
_EVIDENCE = 1000


def card(picture: RequestPicture) -> b.Block:
    """The message in the approvals channel, redrawn in place through every state."""
    request = picture.request
    blocks = [b.header(f"{states.heading(request.state)}: {request.summary}"), b.section(_line(picture))]
    if len(request.summary) > 100:
        blocks.append(b.plain_section(request.summary))
    blocks += b.pairs(_facts(picture))
    if request.state is State.PENDING:
        blocks += forms.concerns(picture.concerns)
    if request.outcome_text:
        blocks.append(b.section(outcome(request, picture.decisions)))
    blocks.append(b.context(" · ".join(_policy(picture))))
    blocks.append(b.actions(_buttons(picture), f"request:{request.id}"))
    return b.message(_fallback(request), blocks)


def _line(picture: RequestPicture) -> str:
    request = picture.request
    money = "LIVE" if picture.live else "SANDBOX"
    now = " · *Freeze now*" if request.break_glass else ""
    return (
        f"*{b.esc(request.id)}* · {states.WORDS[request.state]}{now} · asked for by {b.mention(request.requester)}"
        f" · {money} ({b.esc(request.program)})"
    )


def _facts(picture: RequestPicture) -> list[b.Line]:
    request = picture.request
    lines = [("Reason", request.reason), *picture.lines]
    if request.exposure_usd:
        lines.insert(0, ("Amount", format_usd(request.exposure_usd)))
    if request.subject_label:
        lines.insert(0, ("Card", request.subject_label))
    return lines


def _fallback(request: Request) -> str:
    word = states.WORDS[request.state]
    return (
        f"{b.esc(request.id)} {word}: {b.esc(request.summary)} (asked for by {b.esc(request.requester_name)})"
    )


def approvals(decisions: tuple[Decision, ...]) -> list[Decision]:
    return [d for d in decisions if d.kind is DecisionKind.APPROVE]


def _policy(picture: RequestPicture) -> list[str]:
    """Who has to do what by when, in the words of the state."""
    request = picture.request
    given = approvals(picture.decisions)
    parts = [
        f"{len(given)} of {request.approvals_needed}" + "".join(f" · {b.mention(d.actor)} ✓" for d in given)
    ]
    names = ", ".join(b.esc(n) for n in picture.approver_names)
    if request.state is State.PENDING:
        parts.append(f"needs {request.approvals_needed - len(given)} more of {names}, not the requester")
        parts.append(f"expires {b.when(request.expires_at)}")
    if request.break_glass:
        parts = [_confirmed(picture, names)]
    if request.state in (State.EXECUTING, State.UNRESOLVED) and picture.next_look_at:
        parts.append(f"next look {b.when(picture.next_look_at, '{time_secs}')}")
    return [*parts, f"code {b.esc(picture.code)}", f"asked {b.when(request.created_at)}"]


def _confirmed(picture: RequestPicture, names: str) -> str:
    done = next((d for d in picture.decisions if d.kind is DecisionKind.CONFIRM), None)
    if done:
        return f"acted at once, confirmed by {b.mention(done.actor)}"
    return f"acted at once on the requester's word · a second person of {names} has to confirm or undo it"


def waits_for_confirmation(picture: RequestPicture) -> bool:
    """A Freeze now that was sent and that no second person has confirmed."""
    request = picture.request
    sent = request.break_glass and request.state in SENT and request.state is not State.FAILED
    return sent and not any(d.kind is DecisionKind.CONFIRM for d in picture.decisions)


def _buttons(picture: RequestPicture) -> list[b.Block]:
    """At most three, and the rest under the dots. Their value is the id and the version, nothing else."""
    request = picture.request
    stamp = ids.stamp(request.id, request.version)
    found: list[b.Block] = []
    if request.state is State.PENDING:
        found += [
            b.button("Approve", ids.APPROVE, stamp, "primary"),
            b.button("Reject", ids.REJECT, stamp, "danger"),
        ]
    if waits_for_confirmation(picture):
        found += [
            b.button("Confirm", ids.CONFIRM, stamp, "primary"),
            b.button("Undo", ids.UNDO, stamp, "danger"),
        ]
    if request.state is State.UNRESOLVED:
        found.append(b.button("Resolve", ids.RESOLVE, stamp))
    if request.state in _ENDED_UNDONE:
        found.append(b.button("Request again", ids.AGAIN, stamp))
    if request.state in (State.PENDING, State.APPROVED):
        options = [
            b.option("Details", f"details:{stamp}"),
            b.option("Cancel", f"cancel:{stamp}", "The requester only"),
        ]
        return [*found, b.overflow(ids.MORE, options)]
    return [*found, b.button("Details", ids.DETAILS, stamp)]


def outcome(request: Request, decisions: tuple[Decision, ...]) -> str:
    """What came of it; only people who decided on it are mentioned."""
    return _outcome(request.state, request.outcome_text, request, decisions)


def _outcome(state: State, text: str, request: Request, decisions: tuple[Decision, ...]) -> str:
    allowed = {d.actor for d in decisions} | {request.requester}
    return f"*{states.heading(state)}.* {b.with_mentions(b.cut(text, 2000), allowed)}"


_LINES = {
    "rejected": "⊘ Rejected by {actor}. Nothing was sent.",
    "cancelled": "○ Cancelled by {actor}. Nothing was sent.",
    "expired": "◌ Expired. Nothing was sent.",
    "executing": "➤ Sent; waiting for the answer.",
    "landed_late": "▲ It landed after all, after it had been given up.",
    "confirmed": "✓ {actor} confirmed the freeze.",
    "reminder_unresolved": "▲ The outcome is still not known. Do not repeat it by hand: look at the card and the"
    " ledger, ask the service with the text in the alert, then press *Resolve*.",
    "resolution": "▲ {actor} says how it ended. A second person has to say the same, one of them an approver"
    " who did not ask.",
}


def line(picture: LinePicture) -> b.Block:
    """One line of the thread, which is the timeline and the receipt."""
    request = picture.request
    text = _line_text(picture)
    blocks = [b.section(text)]
    said = _said(picture)
    if said:
        blocks.append(b.plain_section(said, _EVIDENCE))
    return b.message(f"{b.esc(request.id)}: {text}", blocks)


def _line_text(picture: LinePicture) -> str:
    request = picture.request
    given = len(approvals(picture.decisions))
    if picture.line == "approval":
        nth = next(
            (n for n, d in enumerate(approvals(picture.decisions), 1) if d.actor == picture.actor), given
        )
        return f"✓ Approved by {b.mention(picture.actor)}: {nth} of {request.approvals_needed}."
    if picture.line == "reminder":
        return _reminder(picture, request.approvals_needed - given)
    if picture.line in ("succeeded", "failed", "unresolved"):
        return _outcome(State(picture.line), picture.text or request.outcome_text, request, picture.decisions)
    known = _LINES.get(picture.line)
    if known:
        return known.format(actor=b.mention(picture.actor))
    return f"{b.esc(picture.line.replace('_', ' ').capitalize())}."


def _reminder(picture: LinePicture, missing: int) -> str:
    request = picture.request
    names = ", ".join(b.esc(n) for n in picture.approver_names)
    if request.break_glass:
        return f"◷ Still to be confirmed or undone by a second person of {names}."
    return f"◷ Still waiting for {missing} approval(s) of {names}. Expires {b.when(request.expires_at)}."


def _said(picture: LinePicture) -> str:
    """The words of a person that belong to the line: a rejection's reason, a resolution's evidence."""
    if picture.line == "rejected":
        return next((d.reason for d in picture.decisions if d.kind is DecisionKind.REJECT), picture.text)
    if picture.line == "resolution":
        says = next(
            (
                d.verdict
                for d in picture.decisions
                if d.kind is DecisionKind.RESOLVE and d.actor == picture.actor
            ),
            "",
        )
        return f"{says}: {picture.text}" if says else picture.text
    if picture.line in ("succeeded", "failed", "unresolved"):
        return ""
    return picture.text


def direct(picture: DirectPicture) -> b.Block:
    """To the requester alone: what became of it."""
    request = picture.request
    blocks = [b.section(f"*{states.heading(request.state)}:* your request *{b.esc(request.id)}*")]
    blocks.append(b.plain_section(request.summary))
    if request.outcome_text:
        blocks.append(b.plain_section(b.cut(request.outcome_text, 2000)))
    elif request.state is State.APPROVED:
        by = b.mention(picture.actor)
        blocks.append(b.section(f"{by} gave the last approval. It is being sent; the outcome follows."))
    link = f" · <{picture.link}|open the request>" if picture.link else ""
    blocks.append(b.context(f"code {b.esc(picture.code)}{link}"))
    return b.message(f"{_fallback(request)}", blocks)


def opening(request_id: str) -> b.Block:
    """Shown at once, while the terms are read again."""
    return forms.loading(
        "Approve", f"Reading {request_id} and what it would do now…", meta=ids.pack(request=request_id)
    )


def confirmation(found: Confirmation, private: tuple[b.Line, ...] = ()) -> b.Block:
    """What an approver reads before the word counts: the frozen terms, and the facts of this moment."""
    request = found.picture.request
    blocks = [b.header(f"{request.id}: {request.summary}"), b.section(_line(found.picture))]
    if len(request.summary) > 100:
        blocks.append(b.plain_section(request.summary))
    if not found.facts_read:
        blocks.append(
            b.section("*▲ The API could not be read just now.* The figures are those of the submission.")
        )
    if found.changed:
        changed = "\n".join(f"• {b.esc(text)}" for text in found.changed)
        blocks.append(b.section(f"*▲ Changed since it was asked for*\n{changed}"))
    blocks += forms.concerns(found.concerns)
    blocks += b.pairs([*_terms(request), *private, *found.lines, ("Reason", request.reason)])
    given = len(approvals(found.picture.decisions))
    left = request.approvals_needed - given - 1
    after = "With it, it is sent at once" if left < 1 else f"After it, {left} more approval(s) are needed"
    blocks.append(
        b.context(
            f"Yours is approval {given + 1} of {request.approvals_needed}. {after}. · code {found.picture.code}"
        )
    )
    blocks.append(b.context(forms.which_money(request.program, live=found.picture.live)))
    meta = ids.pack(request=request.id, version=request.version, digest=request.digest)
    return b.modal(ids.APPROVE, "Approve", blocks, submit="Approve", close="Not now", meta=meta)


def _terms(request: Request) -> list[b.Line]:
    lines = [("Card", request.subject_label)] if request.subject_label else []
    if request.exposure_usd:
        lines.append(("Amount", format_usd(request.exposure_usd)))
    return lines


def reject(request_id: str, version: int) -> b.Block:
    element: b.Block = {"type": "plain_text_input", "multiline": True, "max_length": forms.REASON_LIMIT}
    blocks = [
        b.section(f"Nothing of *{b.esc(request_id)}* will be sent. The requester is told your reason."),
        b.field(forms.REASON, "Reason", element),
    ]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(ids.REJECT, "Reject", blocks, submit="Reject", close="Back", meta=meta)


def cancel(request_id: str, version: int) -> b.Block:
    blocks = [
        b.section(
            f"Withdraw *{b.esc(request_id)}*? Nothing of it will be sent, and it can be asked for again."
        )
    ]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(
        ids.CANCEL, "Cancel the request", blocks, submit="Cancel request", close="Keep it", meta=meta
    )


def resolve(request_id: str, version: int) -> b.Block:
    """Two people who say the same end an unresolved request."""
    options = [
        b.option("succeeded", "succeeded", "It happened: the API, the card or the ledger shows it"),
        b.option("failed", "failed", "Nothing moved, or all of it came back"),
    ]
    evidence: b.Block = {"type": "plain_text_input", "multiline": True, "max_length": _EVIDENCE}
    blocks = [
        b.section(
            f"Say how *{b.esc(request_id)}* really ended, once you have seen proof. It holds when two people say the"
            " same, one of them an approver who did not ask. Nothing is sent by this."
        ),
        b.field("verdict", "Outcome", {"type": "radio_buttons", "options": options}),
        b.field("evidence", "Evidence", evidence, hint="Ledger row, card balance, or the service's answer."),
    ]
    meta = ids.pack(request=request_id, version=version)
    return b.modal(ids.RESOLVE, "Resolve the outcome", blocks, submit="Resolve", close="Back", meta=meta)


def details(picture: RequestPicture) -> list[b.Block]:
    """Everything about a request: terms, decisions, times. For `/requests show` and the Details modal."""
    request = picture.request
    blocks = [b.header(f"{request.id}: {request.summary}"), b.section(_line(picture))]
    times = [
        ("Asked", request.created_at),
        ("Expires", request.expires_at),
        ("Approved", request.approved_at),
    ]
    times += [("First sent", request.first_sent_at), ("Finished", request.finished_at)]
    if len(request.summary) > 100:
        blocks.append(b.plain_section(request.summary))
    blocks += b.pairs(_facts(picture))
    shown = [f"*{label}* {b.when(at, '{date_short_pretty} {time_secs}')}" for label, at in times if at]
    blocks.append(b.section("\n".join(shown)))
    blocks += [_decision(d) for d in picture.decisions[:20]]
    if request.outcome_text:
        blocks.append(b.section(outcome(request, picture.decisions)))
    policy = b.esc(request.policy_version[:12])
    sent = f" · {request.attempts} attempt(s)" if request.attempts else ""
    blocks.append(b.context(f"code {b.esc(short_code(request.digest))} · policy {policy}{sent}"))
    return blocks


_DECIDED = {
    DecisionKind.APPROVE: "✓ approved by",
    DecisionKind.REJECT: "⊘ rejected by",
    DecisionKind.BREAK_GLASS: "➤ done at once by",
    DecisionKind.CONFIRM: "✓ confirmed by",
    DecisionKind.RESOLVE: "▲ resolution proposed by",
}


def _decision(decision: Decision) -> b.Block:
    says = f" ({decision.verdict})" if decision.verdict else ""
    why = f": {b.esc(b.cut(decision.reason, 300))}" if decision.reason else ""
    at = b.when(decision.decided_at, "{date_short_pretty} {time_secs}")
    return b.context(f"{_DECIDED[decision.kind]} {b.mention(decision.actor)}{says} {at}{why}")


def row(request: Request) -> str:
    """One request in a list."""
    until = f" · expires {b.when(request.expires_at)}" if request.state is State.PENDING else ""
    asked = "" if request.state not in OPEN else f" · asked {b.when(request.created_at)}"
    return (
        f"*{b.esc(request.id)}* · {states.badge(request.state)} · {b.esc(b.cut(request.summary, 160))}"
        f" · by {b.mention(request.requester)}{asked}{until}"
    )
