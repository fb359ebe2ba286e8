"""Funding statuses and reasons in plain words with the next step. Status and reason are read together:
`unregistered_sender` is a reason of both review and rejected."""

from __future__ import annotations

from collections.abc import Mapping

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
    ): "A token that is not accepted on that network was sent. Contact the service.",
    (
        "rejected",
        "mixed_tokens",
    ): "USDC and USDT came in one transaction. Contact the service; send one token per transfer.",
    (
        "rejected",
        "below_minimum",
    ): "It was under 10 USD, which is never picked up. Send at least 10 USD at once.",
    ("rejected", "unregistered_sender"): "The paying wallet belongs to another account. Contact the service.",
    (
        "rejected",
        "bridge_fill",
    ): "It delivered bridged funds. Contact the service, and send directly next time.",
    (
        "rejected",
        "before_automatic_funding",
    ): "It was sent before automatic funding began; the service settles it separately.",
    ("rejected", "before_account_opened"): "It is older than the account. Contact the service.",
    (
        "rejected",
        "not_found",
    ): "It was not seen on that network within 24 hours. Check hash and network; it may be submitted again.",
    ("rejected", "rejected_by_operator"): "The service reviewed and refused it. Contact the service.",
    (
        "rejected",
        "reversed_by_operator",
    ): "It had been credited and was taken back: the float fell. Stop top-ups and contact the service.",
    (
        "review",
        "unregistered_sender",
    ): "The paying wallet is registered to no account. Ask the service to register it.",
    (
        "review",
        "operator_sender",
    ): "One of the service's own wallets paid. Wait; contact the service if it lasts.",
    ("review", "multiple_senders"): "More than one wallet paid in. Wait; use one wallet per transfer.",
    ("review", "routed_transfer"): "It was not a direct payment. Wait; send directly next time.",
    ("review", "precision"): "The amount has more than 6 decimals. Wait; use at most 6 next time.",
    ("review", "unlisted_token"): "The token is not listed on that network at the moment. Wait.",
    ("review", "not_arrived"): "No matching arrival came within 72 hours. Contact the service.",
    ("review", "ambiguous_match"): "More than one arrival was reported for it. Wait.",
    (
        "review",
        "amount_mismatch",
    ): "What arrived differs from the chain in token, amount or wallet. Contact the service.",
    (
        "review",
        "receipt_changed",
    ): "The transaction is no longer on its chain as verified. Check the explorer and contact the service.",
    ("review", "not_final"): "It was not final within 6 hours. Wait.",
    ("review", "check_failed"): "The chain could not be read. Wait.",
    ("review", "already_credited"): "The same funds were credited by other means. Check the ledger.",
    ("review", "held_by_operator"): "The service holds it. Contact the service.",
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
    return _WORDS.get((status, reason), f"Reason given: {reason}. Ask the service what it means.")
