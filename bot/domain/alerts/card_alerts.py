"""The alerts of single cards whose status the card provider changed: what each kind is and what it says."""

from __future__ import annotations

from typing import Final

from bot.domain.alerts.alert_kind import AlertKind, Severity, Wording, one, over

CARD_BLOCKED = AlertKind(
    name="card_blocked",
    raised_when="your card provider blocked a card",
    found_by="events, poller",
    ends="the card reads otherwise",
    wordings=one(
        Severity.CRITICAL,
        "{card} is blocked by your card provider",
        "{how} Every purchase with it fails until your card provider unblocks it. Nobody here can. Contact your card"
        " provider. Usual causes are repeated attempts in a short time, wrong security details or failed 3-D Secure"
        " checks.",
    ),
    endings=over("{card} is {status} now", "It was blocked for {lasted}."),
    digest_word="card blocked by your card provider",
    runbook="card_blocked-card_status",
    condition_name="blocked",
)
READS_BLOCKED: Final = "The card's status is BLOCKED."
"""How a block is known where no decline said so."""

_BEFORE_A_RESTORE: Final = (
    "This may have been decided here: an older copy of the database was put in place, and what people here did {gap} is"
    " not known. Look for the request in the approvals channel. If there is none, your card provider did it, or"
    " somebody else who has the API key"
)

CARD_STATUS = AlertKind(
    name="card_status",
    raised_when="a card expired, became inactive, or was frozen, unfrozen or closed by no decision made here",
    found_by="poller, events, execution",
    ends="the card reads otherwise; a close is reported once",
    wordings={
        "FROZEN": Wording(
            (Severity.WARNING,),
            "{card} was frozen outside Countersign",
            "Your card provider froze it, or somebody else who has the API key. Find out who before you unfreeze it.",
        ),
        "FROZEN before a restore": Wording(
            (Severity.WARNING,),
            "{card} is frozen",
            f"{_BEFORE_A_RESTORE}: find out who before you unfreeze it.",
        ),
        "EXPIRED": Wording(
            (Severity.WARNING,),
            "{card} has expired",
            "Purchases fail. The balance stays on it; order a new card, and ask your card provider what is left.",
        ),
        "INACTIVE": Wording(
            (Severity.WARNING,),
            "{card} is inactive",
            "Purchases fail. What this status means is not documented; ask your card provider.",
        ),
        "unfrozen": Wording(
            (Severity.CRITICAL,),
            "{card} is ACTIVE again, and nobody here decided that",
            "{freeze} froze it, and nobody here decided anything since. Purchases go through again. {cause} Freeze it"
            " again with `/card freeze`, and tick Freeze now if it is urgent. Countersign does not freeze it by itself:"
            " your card provider, or somebody else who has the API key, may have unfrozen it on purpose.",
        ),
        "unfrozen before a restore": Wording(
            (Severity.WARNING,),
            "{card} is ACTIVE again",
            f"{{freeze}} froze it. {_BEFORE_A_RESTORE}: then freeze it again with `/card freeze`.",
        ),
        "closed": Wording(
            (Severity.WARNING,),
            "{card} was closed outside Countersign",
            "Your card provider closed it, or somebody else who has the API key. Closing is final. Its balance goes"
            " back to the float, and the ledger shows it. Find out who did it, and replace the key if nobody knows.",
        ),
        "closed before a restore": Wording(
            (Severity.WARNING,),
            "{card} is closed",
            f"{_BEFORE_A_RESTORE}. Closing is final. Its balance goes back to the float, and the ledger shows it.",
        ),
    },
    endings=over("{card} is {status} now", "This alert was open for {lasted}."),
    digest_word="card status changed",
    runbook="card_blocked-card_status",
    condition_name="status",
)
