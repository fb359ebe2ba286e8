"""Funding submissions in plain words: their statuses and reasons with the next step, and how far each has come.

Status and reason are read together: `unregistered_sender` is a reason of both review and rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bot.domain.money import format_usd, funding_readings
from bot.domain.requests import Progress, Stage
from bot.operations._base import Facts
from bot.operations._facts import loaded_facts
from bot.partner.models import Funding

_WORDS: Mapping[tuple[str, str], str] = {
    (
        "rejected",
        "transaction_failed",
    ): "The transaction failed on-chain and paid nothing. Send again and submit the new hash.",
    (
        "rejected",
        "not_a_funding_transfer",
    ): "Nothing in it went to the funding address on that network. Check the"
    " hash, the network and the recipient.",
    (
        "rejected",
        "unsupported_token",
    ): "A token that is not accepted on that network was sent. Contact your card provider.",
    (
        "rejected",
        "mixed_tokens",
    ): "USDC and USDT came in one transaction. Contact your card provider; send one token per transfer.",
    (
        "rejected",
        "below_minimum",
    ): "It was under 10 USD, which is never picked up. Send at least 10 USD in one transfer.",
    (
        "rejected",
        "unregistered_sender",
    ): "The paying wallet belongs to another account. Contact your card provider.",
    (
        "rejected",
        "bridge_fill",
    ): "It delivered bridged funds. Contact your card provider, and send directly next time.",
    (
        "rejected",
        "before_automatic_funding",
    ): "It was sent before automatic funding began; your card provider settles it separately.",
    ("rejected", "before_account_opened"): "It is older than the account. Contact your card provider.",
    (
        "rejected",
        "not_found",
    ): "It was not seen on that network within 24 hours. Check hash and network; it may be submitted again.",
    (
        "rejected",
        "rejected_by_operator",
    ): "Your card provider reviewed and refused it. Contact them.",
    (
        "rejected",
        "reversed_by_operator",
    ): "It had been credited and was taken back: the float fell. Stop top-ups and contact your card provider.",
    (
        "review",
        "unregistered_sender",
    ): "The paying wallet is registered to no account. Ask your card provider to register it.",
    (
        "review",
        "operator_sender",
    ): "One of your card provider's own wallets paid. Wait, and contact them if it lasts.",
    ("review", "multiple_senders"): "More than one wallet paid in. Wait; use one wallet per transfer.",
    ("review", "routed_transfer"): "It was not a direct payment. Wait; send directly next time.",
    ("review", "precision"): "The amount has more than 6 decimals. Wait; use at most 6 next time.",
    ("review", "unlisted_token"): "The token is not listed on that network right now. Wait.",
    ("review", "not_arrived"): "No matching arrival came within 72 hours. Contact your card provider.",
    ("review", "ambiguous_match"): "More than one arrival was reported for it. Wait.",
    (
        "review",
        "amount_mismatch",
    ): "What arrived differs from the chain in token, amount or wallet. Contact your card provider.",
    (
        "review",
        "receipt_changed",
    ): "The transaction is no longer on its chain as verified. Check the explorer and contact your card provider.",
    ("review", "not_final"): "It was not final within 6 hours. Wait.",
    ("review", "check_failed"): "The chain could not be read. Wait.",
    ("review", "already_credited"): "The same funds were credited by other means. Check the ledger.",
    ("review", "held_by_operator"): "Your card provider holds it. Contact them.",
    (
        "credited",
        "credited_separately",
    ): "Credited by other means; no figures are given here. Find it in the ledger.",
}


def reason_in_words(status: str, reason: str | None) -> str:
    """What the reason of a funding submission means, and what to do; empty without a reason.

    A reason that is not known here is shown as it is. Source: Funding submission, `status` and `reason`.
    """
    if not reason:
        return ""
    return _WORDS.get((status, reason), f"Reason given: {reason}. Ask your card provider what it means.")


NETWORKS = (("POLYGON", "Polygon"), ("BNB", "BNB Chain"), ("BASE", "Base"))


def facts_of(funding: Funding) -> Facts:
    """What is kept of a submission: plain JSON values, amounts in USD as exact text, times as text in UTC."""
    return {
        "funding_id": funding.id,
        "status": funding.status,
        "reason": funding.reason,
        "network": funding.network,
        "tx_hash": funding.tx_hash,
        "token": funding.token,
        "amount_usd": _text(funding.amount_usd),
        "fee_usd": _text(funding.fee_usd),
        "credited_usd": _text(funding.credited_usd),
        "created_at": funding.created_at.isoformat(),
        "credited_at": funding.credited_at.isoformat() if funding.credited_at else None,
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def stage_of(status: str, reason: str | None) -> Stage:
    """The word that people read for a submission. A status that is not known here is one that was submitted."""
    if status == "rejected":
        return Stage.TAKEN_BACK if reason == "reversed_by_operator" else Stage.FUNDING_REJECTED
    known = {
        "review": Stage.IN_REVIEW,
        "credited": Stage.CREDITED,
        funding_readings.GONE: Stage.FUNDING_REJECTED,
    }
    return known.get(status, Stage.SUBMITTED)


def progress_of(facts: Facts, *, requested_on: str) -> Progress:
    """How far a submission has come, by facts as of `facts_of`. `requested_on` is the network that was requested."""
    facts = loaded_facts(facts)  # amounts in what is stored of an outcome are text
    stage = stage_of(facts["status"], facts["reason"])
    said = {
        Stage.SUBMITTED: _submitted,
        Stage.IN_REVIEW: _in_review,
        Stage.CREDITED: _credited,
        Stage.FUNDING_REJECTED: _rejected,
        Stage.TAKEN_BACK: _taken_back,
    }[stage](facts)
    if facts["network"] and facts["network"] != requested_on:
        said = f"It is looked for on {_network(facts['network'])}, not on {_network(requested_on)}. {said}"
    return Progress(stage, said)


def _network(name: str) -> str:
    return dict(NETWORKS).get(name, name)


def _usd(facts: Facts, name: str) -> str:
    """An amount for people; empty where it is not known."""
    return format_usd(facts[name]) if facts.get(name) is not None else ""


def _sent(facts: Facts) -> str:
    """`500.00 USD in USDC on Polygon`; empty until the transfer is verified."""
    token = f" in {facts['token']}" if facts.get("token") else ""
    on = f" on {_network(facts['network'])}" if facts["network"] else ""
    return f"{_usd(facts, 'amount_usd')}{token}{on}" if _usd(facts, "amount_usd") else ""


def _submitted(facts: Facts) -> str:
    if facts["status"] != "pending":
        return (
            f"Countersign does not know its status {facts['status']}. Ask your card provider what it means."
        )
    if _sent(facts):
        return f"{_sent(facts)} is verified and has not arrived yet. The float grows when it arrives."
    return "The transfer is not verified yet. The float grows when it is verified and has arrived."


def _in_review(facts: Facts) -> str:
    sent = f"{_sent(facts)}." if _sent(facts) else ""
    words = reason_in_words(facts["status"], facts["reason"])
    return " ".join(filter(None, (sent, words, "Nothing has been credited for it so far.")))


def _credited(facts: Facts) -> str:
    credited = _usd(facts, "credited_usd")
    if facts["reason"] or not credited:
        return reason_in_words(facts["status"], facts["reason"]) or "It was credited. Find it in the ledger."
    fee = f" of {_usd(facts, 'fee_usd')}" if _usd(facts, "fee_usd") else ""
    text = f"{credited} reached the float after the load fee{fee}."
    if not _usd(facts, "amount_usd") or not fee:
        return text
    short = facts["credited_usd"] + facts["fee_usd"] < facts["amount_usd"]
    return f"{text} That is less than the {_usd(facts, 'amount_usd')} that was sent." if short else text


def _rejected(facts: Facts) -> str:
    if facts["status"] == funding_readings.GONE:
        why = "Your card provider no longer knows this submission. Another account may have claimed the transfer."
        return f"{why} Contact them. The float did not change."
    return f"{reason_in_words(facts['status'], facts['reason'])} The float did not change.".strip()


def _taken_back(facts: Facts) -> str:
    credited = _usd(facts, "credited_usd")
    if not credited:
        return reason_in_words(facts["status"], facts["reason"])
    return (
        f"The credit was taken back: the float fell by {credited} and may be below zero. Stop top-ups and contact your"
        " card provider."
    )
