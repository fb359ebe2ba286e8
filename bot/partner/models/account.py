"""What `GET /me` and `GET /fees` answer: the account, its key, the float and the rates."""

from pydantic import Field

from bot.partner.models.base import Answer, Count, Exact, Texts, Utc


class Partner(Answer):
    """The account itself."""

    id: str
    name: str | None = None
    contact_email: str | None = Field(default=None, repr=False)
    created_at: Utc | None = None


class KeyInfo(Answer):
    """The key that asked. `prefix` may be shown; `mode` is always `live` and tells nothing."""

    name: str | None = None
    prefix: str
    scopes: Texts
    mode: str
    rate_limit_per_minute: Count


class CardAllowance(Answer):
    """Cards ever ordered (closed ones included), cards not closed, and the lifetime cap, None for none."""

    total: Count
    active: Count
    limit: Count | None

    @property
    def remaining(self) -> int | None:
        """Cards that may still be ordered, never below 0; None where there is no cap."""
        return None if self.limit is None else max(0, self.limit - self.total)


class Float(Answer):
    """The prepaid balance. `balance_usd` may be negative; what can be spent now is `available_usd`."""

    funded_usd: Exact
    spent_usd: Exact
    balance_usd: Exact
    limit_usd: Exact | None
    available_usd: Exact


class Example(Answer):
    """What 100 USD would come to with both fees, though no route charges both."""

    svc_fee_usd: Exact
    your_fee_usd: Exact
    lands_on_card_usd: Exact


class FeeSummary(Answer):
    """Rates as fractions; `total_pct` is charged on no route."""

    svc_pct: Exact
    your_markup_pct: Exact
    total_pct: Exact
    example_on_100_usd: Example


class Earnings(Answer):
    """Commission of the partner, apart from the float."""

    accrued_usd: Exact
    paid_out_usd: Exact
    owed_usd: Exact
    last_payout_at: Utc | None = None


class Me(Answer):
    """Account, key, card allowance, float, fees and earnings in one reading [GET /me]."""

    partner: Partner
    key: KeyInfo
    cards: CardAllowance
    float: Float
    fees: FeeSummary
    earnings: Earnings


class TransactionFees(Answer):
    """The published rates of card usage; what one purchase was charged is on that purchase."""

    usd_purchase_pct: Exact
    fx_purchase_pct: Exact
    high_risk_surcharge_pct: Exact
    atm_pct: Exact
    visa_direct_pct: Exact
    monthly_per_card_usd: Exact
    your_markup_pct: Exact


class Fees(FeeSummary):
    """The full schedule [GET /fees]."""

    load_from_float_pct: Exact
    load_from_user_deposit_pct: Exact
    transaction: TransactionFees
