"""Where passkeys work: a host name, https or this machine; and what a policy with them needs to start."""

from __future__ import annotations

from contextlib import AsyncExitStack
from decimal import Decimal

import pytest

from bot.config import Config, ConfigError, Settings
from bot.domain.passkeys import Site
from bot.domain.people import KindPolicy
from bot.domain.people.policy import Tier
from bot.startup import CannotStart, Overrides, Start, passkey_site

SMALLEST = '[slack]\napprovals_channel = "#a"\nalerts_channel = "#b"\n[people]\napprovers = ["@boss"]\n'
ASKS = "[policy.default]\npasskey = true\n"


def start(text: str, address: str = "") -> Start:
    env = {"COUNTERSIGN_PUBLIC_URL": address} if address else {}
    config = Config.parse(text.encode())
    overrides = Overrides()
    return Start(Settings.from_env(env), config, overrides, AsyncExitStack())


def test_a_passkey_belongs_to_the_host_of_the_address() -> None:
    assert Site.at("https://Ops.example.com:8443/bot") == Site(
        "https://Ops.example.com:8443/bot", "ops.example.com", "https://ops.example.com:8443"
    )
    assert Site.at("http://localhost:8402").origin == "http://localhost:8402"
    assert Site.at("https://ops.example.com:443").origin == "https://ops.example.com"


@pytest.mark.parametrize("address", ["https://10.0.0.7", "http://127.0.0.1:8402", "http://ops.example.com"])
def test_browsers_allow_no_passkeys_at_an_ip_address_or_without_https(address: str) -> None:
    with pytest.raises(ValueError, match="passkeys"):
        Site.at(address)


def test_an_address_is_written_as_browsers_report_it() -> None:
    with pytest.raises(ValueError, match="xn--"):
        Site.at("https://bücher.example")

    assert Site.at("https://xn--bcher-kva.example").rp_id == "xn--bcher-kva.example"


def test_a_policy_with_passkeys_does_not_start_without_an_address() -> None:
    with pytest.raises(CannotStart, match="COUNTERSIGN_PUBLIC_URL"):
        passkey_site(start(SMALLEST + ASKS))
    with pytest.raises(CannotStart, match="host name"):
        passkey_site(start(SMALLEST + ASKS, "https://10.0.0.7"))


def test_a_policy_with_passkeys_starts_with_one_and_one_without_starts_anyhow() -> None:
    assert passkey_site(start(SMALLEST + ASKS, "https://ops.example.com")).rp_id == "ops.example.com"
    assert passkey_site(start(SMALLEST)) == Site()
    assert passkey_site(start(SMALLEST, "https://10.0.0.7")) == Site()


def test_a_tier_that_only_adds_the_passkey_is_a_tier() -> None:
    text = SMALLEST + '[policy.card_topup]\ntiers = [{ above_usd = "500", approvals = 1, passkey = true }]\n'

    policy = Config.parse(text.encode()).policy

    assert policy.uses_passkeys
    assert not policy.of("card_topup").needs_passkey(Decimal(500))
    assert policy.of("card_topup").needs_passkey(Decimal("500.01"))
    assert not policy.of("card_close").needs_passkey(Decimal(9999))


def test_a_tier_that_adds_neither_approvals_nor_a_passkey_is_refused() -> None:
    tiers = 'tiers = [{ above_usd = "500", approvals = 1, passkey = true }]'

    with pytest.raises(ConfigError, match="would do nothing"):
        Config.parse((SMALLEST + f"[policy.card_topup]\npasskey = true\n{tiers}\n").encode())


def test_above_which_amount_a_passkey_is_needed() -> None:
    tiers = (Tier(Decimal(500), 1), Tier(Decimal(900), 2, passkey=True))

    assert KindPolicy(tiers=tiers).passkey_above_usd == Decimal(900)
    assert KindPolicy(tiers=tiers, passkey=True).passkey_above_usd == Decimal(0)
    assert KindPolicy().passkey_above_usd is None
