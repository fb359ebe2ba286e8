"""What follows from each step of an approved request, as a list of effects. Pure.

An effect is a value that says what to write: an audit entry, a message to send, an alert, a secret to seal. The
functions below turn a step into its effects; an operation kind adds its own by `Operation.effects`. All of a list
is about one request, and `bot.services.execution.effect_writer` writes it in the transaction that changes that
request, in the order of `ORDER`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.domain.alerts import Said, request_alerts
from bot.domain.requests import TERMINAL, Attempt, Event, Request, State, fingerprints
from bot.outcomes import support_report
from bot.outcomes.outcome import Outcome
from bot.partner.secret import Secret

EXECUTION = "system:execution"
UPKEEP = "system:upkeep"


@dataclass(frozen=True, slots=True)
class SealSecret:
    """Seal the webhook secret that the API gave this once, as the program's current one."""

    secret: Secret


@dataclass(frozen=True, slots=True)
class KeepSecret:
    """The program's webhook secret did not change. If this bot has none, record that nobody has it."""


@dataclass(frozen=True, slots=True)
class LoseSecret:
    """Record that the API signs with a webhook secret that never reached this bot."""


@dataclass(frozen=True, slots=True)
class GrantLink:
    """Let the requester have one-time links to card details until the approval expires."""


@dataclass(frozen=True, slots=True)
class FollowFunding:
    """Take the answer to a funding submission as a reading of it: alerts and requests go by it from now on."""

    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Put `action` of `actor` on record, with the request's kind, state and digest beside `body`."""

    action: str
    body: Mapping[str, Any]
    actor: str = EXECUTION


@dataclass(frozen=True, slots=True)
class RedrawCard:
    """Draw the request's card in the approvals channel as the request is now, and of a row move its batch along."""


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """Add a line to the request's thread. `line` is the word that the view turns into a sentence."""

    line: str
    text: str


@dataclass(frozen=True, slots=True)
class PurgePrivate:
    """Delete the sealed details and the frozen body."""


@dataclass(frozen=True, slots=True)
class RaiseAlert:
    """Raise an alert about the request, or count it once more. `condition` is the key of what it is about."""

    said: Said
    condition: str


@dataclass(frozen=True, slots=True)
class FollowUrgent:
    """Bring the alert of an urgent request to where the request is now; where it is new, tell people.

    `is_refused`: the card provider has refused it for good, or a check before it was sent has.
    """

    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class DirectMessage:
    """Send the requester a direct message that shows the request as it is now."""


@dataclass(frozen=True, slots=True)
class RedrawNotice:
    """Draw the requester's direct message again, where there is one, as the request is now."""


@dataclass(frozen=True, slots=True)
class ResolveAlert:
    """End the open alert of this condition, if there is one."""

    condition: str


SecretEffect = SealSecret | KeepSecret | LoseSecret
Effect = (
    SecretEffect
    | GrantLink
    | FollowFunding
    | AuditEntry
    | RedrawCard
    | ThreadLine
    | PurgePrivate
    | RaiseAlert
    | FollowUrgent
    | DirectMessage
    | RedrawNotice
    | ResolveAlert
)

# What only this answer holds first, then the record of it, then what people see, then what goes on by itself.
ORDER: tuple[type[Effect], ...] = (
    SealSecret,
    KeepSecret,
    LoseSecret,
    GrantLink,
    AuditEntry,
    RedrawCard,
    ThreadLine,
    PurgePrivate,
    RaiseAlert,
    FollowUrgent,
    DirectMessage,
    RedrawNotice,
    ResolveAlert,
    FollowFunding,
)


def in_order(found: Iterable[Effect]) -> list[Effect]:
    """The same effects in the order in which they are written; those of one type keep theirs."""
    return sorted(found, key=lambda effect: ORDER.index(type(effect)))


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent for the request so far, for the report to the card provider's support.

    `attempts` are in the order they were made, the one just answered included.
    """

    attempts: Sequence[Attempt] = field(default_factory=tuple)
    key_prefix: str = ""  # of the program's API key


def of_claim(before: Request, attempt: Attempt, *, made: Sequence[Attempt]) -> list[Effect]:
    """An executor took the request and is about to make this attempt, after those `made`."""
    body = {"number": attempt.number, "step": attempt.purpose, **fingerprints.on_record(attempt, made)}
    entry = AuditEntry("request.attempt", body)
    return [entry, RedrawCard()] if before.state is State.APPROVED else [entry]


def of_outcome(
    after: Request, event: Event | None, outcome: Outcome, *, sent: Sent, of_kind: Iterable[Effect] = ()
) -> list[Effect]:
    """An attempt was answered and came to `outcome`; `event` is how that moved the request, None = not at all.

    `after` is the request as it now is, `of_kind` what its kind adds by `Operation.effects`.
    """
    last = sent.attempts[-1]
    body = {
        "finding": outcome.finding.value,
        **outcome.facts,
        "attempt": last.number,
        "answer": fingerprints.of_answer(last),
    }
    found = [*of_kind, *_settled(after, event, body, sent)]
    if outcome.alarm:
        said = request_alerts.KEY_REUSED.says(request=after.id, summary=after.headline, alarm=outcome.alarm)
        found.append(RaiseAlert(said, request_alerts.KEY_REUSED.condition(after.id)))
    return found


def of_ending_without_call(after: Request, event: Event, *, sent: Sent) -> list[Effect]:
    """The request ended, or its outcome was given up as unknown, with no call made for it any more."""
    body = {"without_a_call": True, **fingerprints.leant_on(sent.attempts)}
    found = _settled(after, event, body, sent)
    return [*found, PurgePrivate()] if after.state in TERMINAL else found


def of_holding_back(*, is_urgent: bool) -> list[Effect]:
    """An approved request could not be sent yet, though nothing forbids it."""
    return [RedrawCard(), FollowUrgent() if is_urgent else RedrawNotice()]


def of_urgent_stop() -> list[Effect]:
    """What cannot wait was approved, and ended before it was sent, though nobody here wanted that."""
    return [FollowUrgent(is_refused=True)]


def of_being_not_final(request: Request) -> list[Effect]:
    """What cannot wait has happened, and an older call that is on its way may undo it: people are notified once."""
    return [ThreadLine("for_now", request.outcome_text), DirectMessage()]


def of_tampering(request: Request) -> list[Effect]:
    """The stored request is not the approved one."""
    said = request_alerts.TAMPERED.says(request=request.id)
    return [RaiseAlert(said, request_alerts.TAMPERED.condition(request.id))]


def of_late_landing(after: Request) -> list[Effect]:
    """A look found that a request given up as failed was carried out after all."""
    said = request_alerts.COMPLETED_LATE.says(
        request=after.id, summary=after.headline, how=after.outcome_text
    )
    return _otherwise(after, after.outcome_text, "landed_late", said)


def of_reopening(after: Request, *, sent: Sent) -> list[Effect]:
    """A look found that money of a request given up as failed has moved, and not what became of it."""
    return [
        AuditEntry("request.reopened", after.outcome or {}, UPKEEP),
        RedrawCard(),
        ThreadLine(after.state.value, after.outcome_text),
        _unresolved(after, sent),
        DirectMessage(),
    ]


def of_contradiction(request: Request, text: str) -> list[Effect]:
    """A look found otherwise than two people said of a request. What they said is kept, and people are notified."""
    said = request_alerts.COMPLETED_LATE.says(
        "contradicted", request=request.id, summary=request.headline, how=text
    )
    return _otherwise(request, text, "contradicted", said)


def _otherwise(request: Request, text: str, line: str, said: Said) -> list[Effect]:
    """It came out otherwise than it was called."""
    return [
        AuditEntry(f"request.{line}", request.outcome or {}, UPKEEP),
        RedrawCard(),
        ThreadLine(line, text),
        RaiseAlert(said, request_alerts.COMPLETED_LATE.condition(request.id)),
    ]


def _unresolved(request: Request, sent: Sent) -> RaiseAlert:
    report = support_report.text(request, sent.attempts, sent.key_prefix)
    said = request_alerts.UNRESOLVED.says(request=request.id, summary=request.headline, support_card=report)
    return RaiseAlert(said, request_alerts.UNRESOLVED.condition(request.id))


def _settled(after: Request, event: Event | None, body: Mapping[str, Any], sent: Sent) -> list[Effect]:
    """Audit and card always; what people must read, and the alert, by where the request is now."""
    found: list[Effect] = [AuditEntry("request.outcome", body), RedrawCard()]
    if event is not None:
        found.append(ThreadLine(after.word, after.outcome_text))
    if after.state in TERMINAL:
        found.append(DirectMessage())
        if len(sent.attempts) > 1:  # the first one can have raised none
            found.append(ResolveAlert(request_alerts.UNRESOLVED.condition(after.id)))
    if event is Event.LOSE_SIGHT:
        found += [_unresolved(after, sent), DirectMessage()]
    return found
