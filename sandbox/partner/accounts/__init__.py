"""Partner accounts: what the card provider has agreed with each, and the API keys that act for it.

`accounts` opens, reads and changes them, `api_keys` issues and finds keys, `Settings` holds every term of the
agreement and every switch for a place that the API's document leaves open.
"""

from __future__ import annotations

from sandbox.partner.accounts.accounts import Account, account, all_accounts, first_account
from sandbox.partner.accounts.api_keys import ApiKey
from sandbox.partner.accounts.settings import NETWORKS, Network, Settings, Utc

__all__ = [
    "NETWORKS",
    "Account",
    "ApiKey",
    "Network",
    "Settings",
    "Utc",
    "account",
    "accounts",
    "all_accounts",
    "api_keys",
    "first_account",
]
