"""Everything that can go wrong with a person's request, as types whose text is the sentence they read.

CountersignError
├── NotAllowed          this person may not do this
│   └── OwnRequest      the requester decides on their own request
├── AlreadyDecided      this person's decision is in
├── Stale               the request changed since it was shown
├── Expired             too late
├── NotPosted           its message is not in Slack, so nobody would see what becomes of it
├── NotFound            no such request, card or submission
├── InvalidInput        a field's value is wrong; carries the field
├── OverLimit           a rolling limit would be passed
├── TooMuch             one person did so much at once that others would wait
├── Paused              sending to the API is paused
├── PasskeyNeeded       it is decided on the page for passkeys, which no click replaces
├── LookupFailed        Slack could not say who somebody is; nothing is decided
│   ├── SlackAway       it gave no answer at all
│   ├── PerhapsGone     it said, not often enough yet, that it does not know them
│   └── UnknownName     Slack knows nobody of this name
└── IllegalTransition   a move the state table does not have (ours to fix)
"""

from __future__ import annotations


class CountersignError(Exception):
    """A refusal; `str(error)` is the sentence for the person, `reason` the word for the audit."""

    reason = "refused"


class NotAllowed(CountersignError):
    reason = "not_allowed"

    def __init__(self, sentence: str, reason: str = "not_allowed") -> None:
        super().__init__(sentence)
        self.reason = reason


class OwnRequest(NotAllowed):
    def __init__(self) -> None:
        super().__init__(
            "You requested this, so somebody else has to decide. Nothing has changed.", "own_request"
        )


class AlreadyDecided(CountersignError):
    reason = "already_decided"


class Stale(CountersignError):
    reason = "stale"


class Expired(CountersignError):
    reason = "expired"


class NotPosted(CountersignError):
    reason = "not_posted"


class NotFound(CountersignError):
    reason = "not_found"


class InvalidInput(CountersignError):
    """A value a person typed is wrong. `field` is the operation's field name."""

    reason = "invalid_input"

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


class InvalidFields(CountersignError):
    """Several fields at once; `errors` maps field name to sentence."""

    reason = "invalid_input"

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


class OverLimit(CountersignError):
    reason = "over_limit"


class TooMuch(CountersignError):
    reason = "too_much"


class Paused(CountersignError):
    reason = "paused"


class PasskeyNeeded(CountersignError):
    """The policy asks for a passkey. `purpose`, `subject` and `terms` are what the page would be opened for."""

    reason = "passkey_needed"

    def __init__(self, purpose: str, subject: str, terms: dict[str, str] | None = None) -> None:
        super().__init__(
            "This needs your passkey, and a click isn't enough. Nothing was recorded. Open it again in Slack and press"
            " the button with the passkey."
        )
        self.purpose = purpose
        self.subject = subject
        self.terms = terms or {}


class LookupFailed(CountersignError):
    """`code`: Slack's error code; empty where it gave none."""

    reason = "lookup_failed"

    def __init__(self, sentence: str, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


class SlackAway(LookupFailed):
    """Slack gave no answer at all: an outage, or the way to it."""

    reason = "slack_away"


class PerhapsGone(LookupFailed):
    """Slack said that it does not know somebody, which may be a fault of a moment: that is on nobody's record."""


class UnknownName(LookupFailed):
    """`names`: those that Slack says it does not have, with commas."""

    reason = "unknown_name"

    def __init__(self, sentence: str, names: str = "") -> None:
        super().__init__(sentence)
        self.names = names


class IllegalTransition(CountersignError):
    reason = "illegal_transition"

    def __init__(self, state: str, event: str) -> None:
        super().__init__(f"A request that is {state} cannot take the event {event}.")
        self.state = state
        self.event = event
