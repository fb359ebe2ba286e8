"""What whoever runs Countersign sets: the reviewed file, the keyring of master keys, the API's key.

A change is taken at the next start, as the product takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from bot.config import Config, Settings
from tests.simulation.world.names import API_URL

# In the order in which they come into use.
MASTERS = (
    "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg=",
    "V9q2mQ3tPq1xvO8nT4sYb0rWcLkJzE7uHdGfA5iMx2Y=",
)
DETAILS_URL = "https://details.invalid"
RELAY_URL = "https://ledger.example.com/card-events"
RELAYED = (
    *("card.authorized", "card.transaction", "card.declined", "card.unloaded"),
    *("card.status_changed", "float.credited"),
)
SLACK_TOKENS = ("xoxb-simulated-token", "xapp-simulated-token")


@dataclass(frozen=True)
class Policy:
    """What of the reviewed file the plans change. Amounts are in USD; `stands_for`: (who is away, who decides)."""

    approvals: int = 1
    tier_usd: int = 500
    per_requester_usd: int = 2500
    total_usd: int = 3500
    freeze_now: bool = True
    expires: str = "8h"
    stands_for: tuple[str, str] | None = None
    relays: bool = False
    passkeys: bool = False
    cool_off_s: int = 0  # so long after its last approval a request is sent at the earliest

    def text(self) -> str:
        """The file."""
        return f"""
[slack]
approvals_channel = "#card-approvals"
alerts_channel = "#card-alerts"

[people]
approvers = ["@card-approvers"]
admins = ["@card-admins"]
delegations = [{self._delegation()}]

[policy.default]
approvals = {self.approvals}
expires = "{self.expires}"
passkey = {str(self.passkeys).lower()}
{self._cool_off()}

[policy.card_topup]
tiers = [{self._tier()}]

[policy.card_freeze]
now = {str(self.freeze_now).lower()}

[deposits]
card = "card_id"
amount_usd = "amount_usd"
asset = "asset"
chain = "chain"

[limits]
per_requester_usd = "{self.per_requester_usd}"
total_usd = "{self.total_usd}"
{self._destinations()}"""

    def needed(self, kind: str, amount_usd: Decimal) -> int:
        """How many people have to approve a request of this kind and amount."""
        above = kind == "card_topup" and amount_usd > self.tier_usd
        return max(self.approvals, 2 if above else 1)

    def _tier(self) -> str:
        """Where two are needed anyway a tier for two would say nothing."""
        return f'{{ above_usd = "{self.tier_usd}", approvals = 2 }}' if self.approvals < 2 else ""

    def _cool_off(self) -> str:
        return f'cool_off = "{self.cool_off_s}s"' if self.cool_off_s else ""

    def _delegation(self) -> str:
        if self.stands_for is None:
            return ""
        away, delegate = self.stands_for
        days = 'since = 2026-03-01, until = 2026-03-20, reason = "on leave"'
        return f'{{ from = "{away}", to = "{delegate}", {days} }}'

    def _destinations(self) -> str:
        if not self.relays:
            return ""
        events = ", ".join(f'"{event}"' for event in RELAYED)
        return f'\n[[relay.destinations]]\nname = "ledger"\nurl = "{RELAY_URL}"\nevents = [{events}]\n'


@dataclass(frozen=True)
class Installation:
    """The settings of a start. `masters` are places in MASTERS, the first one seals."""

    api_key: str
    policy: Policy = Policy()
    masters: tuple[int, ...] = (0,)

    def settings(self, database: str) -> Settings:
        return _settings(database, self.api_key, self.masters)

    def config(self) -> Config:
        return _config(self.policy)


@cache
def _settings(database: str, api_key: str, masters: tuple[int, ...]) -> Settings:
    bot, app = SLACK_TOKENS
    return Settings.from_env(
        {
            "SLACK_API_URL": f"{API_URL}/api/",
            "SLACK_BOT_TOKEN": bot,
            "SLACK_APP_TOKEN": app,
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{database}",
            "COUNTERSIGN_MASTER_KEYS": "\n".join(MASTERS[place] for place in masters),
            "COUNTERSIGN_PARTNER_URL": f"{API_URL}/api/partner/v1",
            "COUNTERSIGN_PARTNER_KEY": api_key,
        }
    )


@cache
def _config(policy: Policy) -> Config:
    return Config.parse(policy.text().encode())
