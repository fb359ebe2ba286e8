"""What registering and rotating the webhook share: one call, never repeated, whose secret is given once.

The answer of PUT /webhook holds the only copy of a secret, so a lost answer cannot be fixed by the same
call: a repeat gives none, or makes yet another. Whether the call was carried out can be seen from the
registration's `updated_at`; then nobody has the secret, and only another rotation gives one [PUT /webhook].
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from bot.operations._base import Facts, Line, Look, Operation, Sought
from bot.operations._handling import Handling
from bot.outcomes import Effect, Evidence, Finding, KeepSecret, LoseSecret, Outcome, SealSecret
from bot.partner.calls import events as event_calls
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.models import WebhookChange

# How far the card provider's clock may be behind ours. A change by somebody else in that time is taken for ours,
# and the answer to that is harmless: rotate once more.
_CLOCKS_DIFFER = timedelta(minutes=2)
ROTATE_AGAIN = (
    "Your card provider made a new secret and its answer was lost, so nobody has that secret and deliveries cannot be"
    " verified. No money moved. Rotate the secret again with /countersign webhook; events are read from the log"
    " meanwhile."
)


class WebhookOperation(Operation):
    """Registering the address for events, or replacing its secret: one call that is never repeated.

    Source: Webhooks and events, PUT /webhook.
    """

    endpoint = event_calls.SET_WEBHOOK
    webhook_url = "url"
    handling = Handling(asked_by_admins=True, alone=True, repeats=False)

    @property
    def subject(self) -> str:
        """Always `webhook`: an account has one, so such requests run one at a time."""
        return "webhook"

    async def read(self, partner: PartnerClient) -> Facts:
        """The registered address and its last change (ISO 8601, UTC), both None before the first registration."""
        found = await partner.webhook()
        return {"url": found and found.url, "updated_at": found and found.updated_at.isoformat()}

    def lines(self, facts: Facts) -> list[Line]:
        """The address that is registered now, and that a new secret takes effect immediately."""
        return [
            ("Registered now", facts["url"] or "nothing"),
            ("Secret", "replaced at once, for events not yet delivered too, and sealed here"),
        ]

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Makes the call without a key: PUT /webhook takes none."""
        return self.of(await partner.set_webhook(body))

    def of(self, change: WebhookChange) -> Outcome:
        """What an answer to PUT /webhook means. A new secret goes with the outcome and is sealed in its transaction."""
        url = change.webhook.url
        if change.secret is None:
            text = f"{url} was registered already, and its secret does not change."
            return Outcome(Finding.SUCCEEDED, text, {"url": url, "signing": "kept"})
        text = f"Events go to {url}. Its new secret is sealed here and verifies them from now on."
        return Outcome(Finding.SUCCEEDED, text, {"url": url, "signing": "replaced"}, secret=change.secret)

    def effects(self, outcome: Outcome) -> Sequence[Effect]:
        """The one copy of a new secret is sealed; that one is lost, or kept, is on record too."""
        if outcome.secret is not None:
            return (SealSecret(outcome.secret),)
        match outcome.facts.get("signing"):
            case "kept":
                return (KeepSecret(),)
            case "lost":
                return (LoseSecret(),)
        return ()

    def judge(self, error: PartnerError, *, outcome_unknown: bool) -> Outcome:
        """After an unknown outcome it says that the registration is read and the call is not made again."""
        outcome = super().judge(error, outcome_unknown=outcome_unknown)
        if outcome.finding is not Finding.UNKNOWN:
            return outcome
        text = (
            f"{outcome.cause} Whether the secret was replaced is not known yet; do not repeat this. The"
            " registration is read shortly, and the call is not made again."
        )
        return Outcome(Finding.UNKNOWN, text, outcome.facts, cause=outcome.cause)

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """A change since then means that the secret is lost, as only the answer held it; never done."""
        found = await partner.webhook()
        facts: dict[str, Any] = {"url": found and found.url}
        if found is not None and found.updated_at >= sought.since - _CLOCKS_DIFFER:
            return Look(Evidence.UNDONE, ROTATE_AGAIN, {**facts, "signing": "lost"})
        return Look(Evidence.ABSENT, "The registration is as it was before.", facts)
