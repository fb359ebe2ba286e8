"""Which addresses may not be connected to, by the kind of network they are of."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.addresses import is_address, is_denied

#: Of each network that no host on the internet has: its first and its last address are refused.
INSIDE = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128", "::1/128", "::ffff:0:0/96", "64:ff9b::/96", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16",
    "3fff::/20", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)  # fmt: skip
OUTSIDE = ("1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.0", "192.169.0.0", "2606:4700::1111", "2a00::1")


@pytest.mark.parametrize("text", INSIDE)
def test_no_address_of_a_network_of_nobodys_is_connected_to(text: str) -> None:
    network: IPv4Network | IPv6Network = ip_network(text)
    for address in (network[0], network[-1], network[network.num_addresses // 2]):
        assert is_denied(str(address)), address


@pytest.mark.parametrize("text", OUTSIDE)
def test_an_address_of_a_host_on_the_internet_may_be(text: str) -> None:
    assert not is_denied(text)


@given(st.ip_addresses())
def test_what_python_calls_private_is_refused_whatever_its_family(address: object) -> None:
    if getattr(address, "is_private", False) or getattr(address, "is_multicast", False):
        assert is_denied(str(address))


@pytest.mark.parametrize(
    "text", ["", "localhost", "1.1.1", "0x7f.1", "2606:4700::1111%eth0", "1.1.1.1/32", "::g"]
)
def test_what_is_no_address_or_has_a_zone_is_refused(text: str) -> None:
    assert is_denied(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("127.1", True), ("0x7f.1", True), ("2130706433", True), ("::1", True), ("1.1.1.1", True), ("0177.0.0.1", True),
        ("example.com", False), ("1.example.com", False), ("", False), ("1.1.1.1.1", False), ("a1", False),
    ],
)  # fmt: skip
def test_an_address_is_one_in_every_spelling_that_some_resolver_takes(text: str, is_one: bool) -> None:
    assert is_address(text) is is_one
