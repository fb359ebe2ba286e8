"""The alerts of funding submissions: what each kind is and what it says at each turn of a submission."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from bot.domain.alerts.alert_kind import AlertKind, Ending, Facts, Remedy, Severity, Wording, one, over
from bot.domain.ids import short_hash
from bot.domain.money import format_usd

UNVERIFIED_LIMIT: Final = 5
"""So many unverified submissions block all funding of an account [POST /funding]."""


def _remedy_of_reason(facts: Facts) -> Remedy | None:
    """Where nothing arrived, submitting again can help; what arrived and was refused, the card provider settles."""
    again = facts.get("reason") in ("not_found", "transaction_failed")
    return Remedy.SUBMIT_FUNDING if again else None


FUNDING = AlertKind(
    name="funding",
    raised_when="a submission is in review, rejected, overdue for its network, credited, or taken back",
    found_by="poller, events",
    ends="it is credited, or pending within its usual time",
    wordings={
        "credited": Wording((Severity.INFO,), "{submission} is credited{amount}", "{text}"),
        "credited separately": Wording((Severity.INFO,), "{submission} was credited separately", "{text}"),
        "review": Wording((Severity.WARNING,), "{submission} is in review", "{reason} {about}"),
        "rejected": Wording((Severity.WARNING,), "{submission} is rejected", "{reason} {about}"),
        "taken back": Wording((Severity.CRITICAL,), "{submission} was taken back", "{reason} {about}"),
        "overdue": Wording(
            (Severity.WARNING,),
            "{submission} is overdue: pending for {mark}",
            "That is longer than usual on this network. Check the transfer in a block explorer. If it is final there,"
            " contact your card provider. {about}",
        ),
        "unseen": Wording(
            (Severity.WARNING,),
            "{submission} is not seen on {network} yet",
            "If you sent it on another network, submit the same hash again with that network. Otherwise wait. {about}",
        ),
        "unknown status": Wording(
            (Severity.WARNING,),
            "{submission} has the unknown status “{status}”",
            "Countersign does not know this status. Ask your card provider what it means. {about}",
        ),
        "gone": Wording(
            (Severity.WARNING,),
            "{submission} has disappeared",
            "Your card provider no longer knows this submission. Another account may have claimed the transfer."
            " Contact your card provider. {about}",
        ),
    },
    endings={
        "": Ending("{submission} is on its way again", "Its status is {status}, {lasted} after the alert."),
        "not known": Ending("The alert about a submission is over", "It was open for {lasted}: {subject}."),
    },
    remedies=(Remedy.SUBMIT_FUNDING,),
    remedy_by=_remedy_of_reason,
    digest_word="funding",
    runbook="funding-funding_unverified",
)

FUNDING_UNVERIFIED = AlertKind(
    name="funding_unverified",
    raised_when=f"{UNVERIFIED_LIMIT - 1} of {UNVERIFIED_LIMIT} unverified submissions are used, or all",
    found_by="poller",
    ends="fewer are",
    wordings=one(
        Severity.WARNING,
        "{program} has {count} of at most {limit} unverified funding submissions",
        "At {limit} your card provider accepts no more funding until one is verified or rejected. Check the hash and"
        " the network of {hashes}.",
    ),
    endings=over(
        "{program} can submit funding again",
        "Fewer submissions are unverified. The limit was reached, or close, for {lasted}.",
    ),
    runbook="funding-funding_unverified",
    condition_name="unverified",
)


def submission_named(funding_id: str, tx_hash: str) -> str:
    """`Funding 0x68105d…9005`; by its id where the hash is not known."""
    return f"Funding {short_hash(tx_hash)}" if tx_hash else f"Funding {funding_id}"


def submission_about(
    funding_id: str, *, tx_hash: str, network: str, amounts: Sequence[tuple[str, str]]
) -> str:
    """The last sentence of each text: ids, and `amounts` such as ("sent", "500.00 USD")."""
    said = [f"Submission {funding_id}"]
    if tx_hash:
        said.append(f"hash {tx_hash} on {network}")
    said += [f"{label} {amount}" for label, amount in amounts]
    return ", ".join(said) + "."


def credited_amount(credited_usd: Decimal, *, fee_usd: Decimal, sent_usd: Decimal | None) -> str:
    """Ends the title of a credit. `sent_usd`: None where it is not known."""
    short = sent_usd is not None and credited_usd + fee_usd < sent_usd
    return f": {format_usd(credited_usd)}{', less than was sent' if short else ''}"
