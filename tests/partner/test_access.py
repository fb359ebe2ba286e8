"""Which key may go where: a sandbox key stays on this machine, a live key never comes to it."""

import httpx
import pytest

from bot.partner.client import PartnerClient
from bot.partner.key_guard import AccessRefused, check_access, key_prefix
from bot.partner.ratelimit import RateLimiter
from bot.partner.secret import Secret
from tests.support.clock import FrozenClock
from tests.support.partner_api import CannedApi

SANDBOX = Secret("svc_live_00000000abcdef")
LIVE = Secret("svc_live_4f5e6d7cabcdef")

LOOPBACK = [
    "http://127.0.0.1:8401/api/partner/v1",
    "http://localhost:8401/v1",
    "http://[::1]/v1",
    "https://127.9.9.9/",
]
ELSEWHERE = [
    "https://api.example.com/api/partner/v1",
    "https://127.0.0.1.example.com/v1",
    "https://localhost.example.com/v1",
    "https://10.0.0.1/v1",
    "https://0.0.0.0/v1",
    "https://2130706433/v1",
]


@pytest.mark.rule("R016")
@pytest.mark.parametrize("base_url", LOOPBACK)
def test_on_this_machine_only_a_sandbox_key_is_used(base_url: str) -> None:
    """R016."""
    check_access(base_url, SANDBOX)

    with pytest.raises(AccessRefused, match="a live key is never used there"):
        check_access(base_url, LIVE)


@pytest.mark.rule("R016")
@pytest.mark.parametrize("base_url", ELSEWHERE)
def test_a_sandbox_key_never_leaves_this_machine(base_url: str) -> None:
    """R016."""
    check_access(base_url, LIVE)

    with pytest.raises(AccessRefused, match="sent to this machine only"):
        check_access(base_url, SANDBOX)


def test_a_live_key_never_crosses_the_network_in_clear() -> None:
    with pytest.raises(AccessRefused, match="https"):
        check_access("http://api.example.com/v1", LIVE)


@pytest.mark.parametrize(
    "base_url",
    ["", "api.example.com", "ftp://api.example.com", "https://", "https://me:pw@api.example.com/v1",
     "https://api.example.com/v1?x=1", "https://api.example.com/v1#a", "https://exa mple.com/\x00"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(AccessRefused):
        check_access(base_url, LIVE)


@pytest.mark.parametrize("key", ["", "svc_live_4f5e6d7c\n", "svc live", "ключ", "a" * 300])
def test_a_key_that_could_not_stand_in_a_header_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(AccessRefused) as refused:
        check_access("https://api.example.com/v1", Secret(key))

    assert not key or key not in str(refused.value)


def test_a_client_with_the_wrong_key_cannot_even_be_made(clock: FrozenClock) -> None:
    api = CannedApi(httpx.Response(200))

    with pytest.raises(AccessRefused):
        PartnerClient(LOOPBACK[0], LIVE, http=api, limiter=RateLimiter(clock), clock=clock)
    with pytest.raises(AccessRefused):
        PartnerClient(ELSEWHERE[0], SANDBOX, http=api, limiter=RateLimiter(clock), clock=clock)
    assert not api.requests


@pytest.mark.rule("R017")
def test_only_the_prefix_of_a_key_is_shown() -> None:
    """R017."""
    assert key_prefix(LIVE) == "svc_live_4f5e6d7c"
    assert key_prefix(Secret("something-else-entirely")) == "(unknown form)"
