"""What the card provider has agreed with a partner, and the switches for places the document leaves open.

Every field can be changed by `POST /_control/account`. U numbers are those of the written list of
open questions; the first value of a switch is the default.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

import msgspec

Network = Literal["POLYGON", "BNB", "BASE"]
NETWORKS: tuple[Network, ...] = ("POLYGON", "BNB", "BASE")  # the order of GET /funding/addresses
Count = Annotated[int, msgspec.Meta(ge=0)]
Utc = Annotated[datetime, msgspec.Meta(tz=True)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that is agreed with one partner, and its switches. Amounts are USD, rates (`_pct`) fractions."""

    cards_limit: Count | None = None
    float_limit_usd: Decimal | None = None
    accept_any_wallet: bool = False
    suspended: bool = False
    networks: tuple[Network, ...] = NETWORKS
    addresses_unreadable: tuple[Network, ...] = ()
    countries_refused: tuple[int, ...] = ()
    automatic_funding_since: Utc | None = None
    background_refresh_seconds: Annotated[int, msgspec.Meta(ge=1)] = 300
    monthly_fee_usd: Decimal = Decimal(1)
    load_pct: Decimal = Decimal("0.01")
    threeds_webhook_enabled: bool = False
    threeds_tries: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1  # codes a cardholder may enter
    deposits_enabled: bool = False
    transaction_markup_pct: Decimal = Decimal(0)  # set by the card provider, not by PUT /fees
    velocity_per_minute: Annotated[int, msgspec.Meta(ge=1)] = (
        60  # purchases of a card; the document has no figure
    )
    profile: Literal["plausible", "documented", "scrambled"] = "plausible"

    threeds_default: Literal["sms", "webhook"] = "sms"  # U1
    unload_replay: Literal["replay", "conflict"] = "replay"  # U2
    bearer_on_me: Literal["accept", "refuse"] = "accept"  # U10
    first_sync: Literal["delayed", "immediate"] = "delayed"  # U11
    unload_reference: Literal["key", "none"] = "key"  # U15
    order_claim_row: Literal["yes", "no"] = "yes"  # U15
    create_replay: Literal["stored", "current"] = "stored"  # U17
    funds_check: Literal["after_replay", "before_replay"] = "after_replay"  # U19
    key_scope: Literal["kind", "account"] = "kind"  # U20
    key_amount: Literal["replay", "conflict"] = "replay"  # U21
    key_days: Count = 0  # U22; 0 is without end
    create_400_key: Literal["unused", "spent"] = "unused"  # U25
    refund_reference: Literal["suffixed", "same"] = "suffixed"  # U26
    processor_timeout: Literal["502", "500", "hang", 502, 500] = "502"  # U28
    order_without_float: Literal["allow", "refuse"] = "allow"  # U32
    monthly_fee: Literal["balance", "invoice"] = "balance"  # U33
    topup_frozen: Literal["allow", "refuse"] = "allow"  # U34
    repeat_freeze_event: Literal["no", "yes"] = "no"  # U36
    close_again: Literal["bad_request", "conflict"] = "bad_request"  # U37
    spend_window: Literal["calendar", "rolling"] = "calendar"  # U38
    total_past_end: Literal["zero", "true"] = "zero"  # U45, for GET /events and transactions
    row_original: Literal["follows", "authorized"] = (
        "follows"  # of a purchase reversed in part or settled otherwise
    )
    phone_check: Literal["valid", "possible"] = (
        "valid"  # a number that can be assigned, or one of a fitting length
    )
    tx_hash_prefix: Literal["any_case", "lowercase"] = "any_case"  # 0X as well as 0x
    unsynced_card: Literal["declines", "spends"] = "declines"  # while its status is still null
    unload_closed: Literal["insufficient_funds", "bad_request"] = "insufficient_funds"  # U35
    frozen_reads_blocked: Literal["no", "yes"] = "no"  # decline_reason.card_blocked of a frozen card
    closed_balance: Literal["zero", "last"] = "zero"  # the cached balance of a closed card
    foreign_atm: Literal["both", "atm_only"] = "both"  # the rates of a cash machine in another currency
    pages_past_end: Literal["one", "true"] = "one"  # total_pages where total reads 0
    authorization_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 7  # U48; 0 is never
    late_network_change: Literal["refuse", "stored"] = "refuse"  # U54
    outstanding: Literal["net_topups", "live_balances"] = "net_topups"  # U59
    suspended_deliveries: Literal["stop", "continue"] = "stop"  # U67
    events_days: Count = 0  # U68; 0 is without end

    def __post_init__(self) -> None:
        """Bounds of the decimal settings; the message names the field."""
        ceilings = {
            "float_limit_usd": 10**12,
            "monthly_fee_usd": 10**6,
            "load_pct": 1,
            "transaction_markup_pct": 1,
        }
        for name, ceiling in ceilings.items():
            value: Decimal | None = getattr(self, name)
            if value is not None and not (value.is_finite() and 0 <= value < ceiling):
                raise ValueError(f"{name}: must be from 0 to below {ceiling}")
