"""Funding submissions, where funds may be sent, and the float's ledger."""

import re
from dataclasses import dataclass
from typing import Annotated

from bot.partner.models.base import Answer, Exact, Known, Texts, Utc

# What no idempotency key contains.
_NO_KEY = re.compile(r"[^A-Za-z0-9_-]+")

NETWORKS = ("POLYGON", "BNB", "BASE")
TOKENS = ("USDC", "USDT")
FUNDING_STATUSES = ("pending", "credited", "rejected", "review")
LEDGER_KINDS = ("funding", "fee", "card_topup", "refund", "adjustment")

REJECTED_REASONS = (
    "transaction_failed", "not_a_funding_transfer", "unsupported_token", "mixed_tokens", "below_minimum",
    "unregistered_sender", "bridge_fill", "before_automatic_funding", "before_account_opened", "not_found",
    "rejected_by_operator", "reversed_by_operator",
)  # fmt: skip
REVIEW_REASONS = (
    "unregistered_sender", "operator_sender", "multiple_senders", "routed_transfer", "precision",
    "unlisted_token", "not_arrived", "ambiguous_match", "amount_mismatch", "receipt_changed", "not_final",
    "check_failed", "already_credited", "held_by_operator",
)  # fmt: skip
CREDITED_REASONS = ("credited_separately",)
"""Reasons by the status they come with; `unregistered_sender` is in two, so a reason tells no status."""

FUNDING_REASONS = tuple(dict.fromkeys((*REJECTED_REASONS, *REVIEW_REASONS, *CREDITED_REASONS)))


class FundingAddress(Answer):
    """Where to send on one network, now: never remembered [GET /funding/addresses]."""

    network: Annotated[str, Known(NETWORKS)]
    address: str
    tokens: Annotated[Texts, Known(TOKENS)]


class Funding(Answer):
    """A funding submission. Whether it was credited is shown by `status`, never by amounts or reason.

    `amount_usd` is what was sent, None until verified; `credited_usd` and `fee_usd` stay filled after
    a reversal, when the status is `rejected`.
    """

    id: str
    network: Annotated[str, Known(NETWORKS)]
    tx_hash: str
    status: Annotated[str, Known(FUNDING_STATUSES)]
    reason: Annotated[str | None, Known(FUNDING_REASONS)] = None
    token: Annotated[str | None, Known(TOKENS)] = None
    amount_usd: Exact | None = None
    fee_usd: Exact | None = None
    credited_usd: Exact | None = None
    created_at: Utc
    credited_at: Utc | None = None


class LedgerEntry(Answer):
    """A movement of the float: positive adds to it; up to ten decimals. It has no id of its own."""

    amount_usd: Exact
    kind: Annotated[str, Known(LEDGER_KINDS)]
    reference: str | None = None
    card_id: str | None = None
    description: str | None = None
    created_at: Utc

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells a row from others: rows have no id."""
        texts = (self.kind, self.reference, self.card_id, self.description, self.created_at.isoformat())
        return (str(self.amount_usd), *(text or "" for text in texts))

    def names_key(self, key: str) -> bool:
        """Does the reference hold this idempotency key, whole? Its form is not shown for every kind of row."""
        return key in _NO_KEY.split(self.reference or "")


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """How far the ledger was read: how many rows there were, and what the newest of them was like.

    Rows come in at the front, so while that row stands where it stood, what is before it has been read.
    """

    rows: int
    newest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopUpEvidence:
    """What the ledger shows for one idempotency key, in the rows that were read.

    Debit and refund: it failed and came back. Debit alone: off the float, perhaps not on the card.
    Neither: nothing yet. `rows` holds every row found, should there ever be more than one of a kind. `mark` is how
    far was read.
    """

    debit: LedgerEntry | None
    refund: LedgerEntry | None
    rows: tuple[LedgerEntry, ...]
    mark: LedgerMark
