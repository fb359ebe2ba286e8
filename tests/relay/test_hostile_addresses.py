"""No connection is made to where nothing may be sent: addresses, their spellings, and a resolver that lies."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any

import pytest

from bot.config import Config, ConfigError
from bot.domain.addresses import is_denied
from bot.services.events import Sender
from bot.services.events.ssrf import NotDelivered

# What a name may lead to.
ADDRESSES = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.254",
    "127.0.0.1", "127.1.2.3", "127.255.255.254", "168.63.129.16", "169.254.169.254", "169.254.170.2",
    "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1",
    "192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1", "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
    "64:ff9b:1::7f00:1", "100::1", "2001::1", "2001:0:53aa:64c::1", "2001:2::1", "2001:10::1", "2001:20::1",
    "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:1::1", "2620:4f:8000::1", "3fff::1",
    "5f00::1", "fc00::1", "fd00:ec2::254", "fd12:3456:789a::1", "fe80::1", "fe80::1%lo", "fec0::1", "ff02::1",
    "ff05::1:3", "::ffff:0:0", "4000::1", "not an address", "",
]  # fmt: skip
# What a host in the file may be, though it is no name.
SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1",
    "017700000001", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]",
    "2852039166", "169.254.169.254", "0xa9fea9fe", "0251.0376.0251.0376", "１２７.0.0.1", "①②⑦.⓪.⓪.①",
    "127。0。0。1", "user@127.0.0.1", "a.example.com@127.0.0.1", "a.example.com:22", "a.example.com:8402",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "172.15.0.1",
    "172.32.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
]


def answering(*answers: Sequence[str]) -> Callable[[str], Any]:
    """A resolver that gives these answers in turn, the last one again and again."""
    left = list(answers)

    async def resolve(host: str) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@pytest.fixture
async def attempts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address that a connection was tried to."""
    tried: list[Any] = []
    loop = asyncio.get_running_loop()

    async def connect(sock: socket.socket, address: Any) -> None:
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(loop, "sock_connect", connect)
    return tried


async def posted(url: str, resolve: Callable[[str], Any], *, ports: frozenset[int]) -> str:
    sender = Sender(resolve=resolve, ports=ports, timeout_s=2)
    try:
        with pytest.raises(NotDelivered) as failure:
            await sender.post(url, b"{}", {})
        return str(failure.value)
    finally:
        await sender.close()


def test_the_tables_are_as_long_as_promised() -> None:
    assert len({*ADDRESSES, *SPELLINGS}) >= 60


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_name_that_leads_to_a_denied_address_is_not_connected_to(
    address: str, attempts: list[Any]
) -> None:
    said = await posted("https://a.example.com/in", answering([address]), ports=frozenset({443}))

    assert attempts == []
    assert "nothing may be sent to" in said


@pytest.mark.parametrize("address", ["127.0.0.1", "64:ff9b::a9fe:a9fe"])
async def test_one_denied_answer_among_good_ones_spoils_all(address: str, attempts: list[Any]) -> None:
    await posted("https://a.example.com/in", answering(["1.1.1.1", address]), ports=frozenset({443}))

    assert attempts == []


@pytest.mark.parametrize("host", SPELLINGS)
async def test_an_address_in_any_spelling_is_no_destination(host: str, attempts: list[Any]) -> None:
    await posted(f"https://{host}/in", answering(["1.1.1.1"]), ports=frozenset({443}))
    assert attempts == []

    toml = '[slack]\napprovals_channel = "#a"\nalerts_channel = "#b"\n[people]\napprovers = ["@c"]\n'
    with pytest.raises(ConfigError, match="url"):
        Config.parse(
            f'{toml}[[relay.destinations]]\nname = "x"\nurl = "https://{host}/in"\nevents = ["a.b"]'.encode()
        )


@pytest.mark.parametrize(
    "url", ["http://a.example.com/", "ftp://a.example.com/", "https:///in", "file:///etc/passwd"]
)
async def test_nothing_but_https_to_a_name_is_used(url: str, attempts: list[Any]) -> None:
    await posted(url, answering(["1.1.1.1"]), ports=frozenset({443}))

    assert attempts == []


async def test_a_rebinding_resolver_gets_no_connection_to_this_machine(attempts: list[Any]) -> None:
    """First a public address, then 127.0.0.1: asked again and checked again for each connection."""
    sender = Sender(resolve=answering(["1.1.1.1"], ["127.0.0.1"]), timeout_s=2)
    for said in ("connection failed", "nothing may be sent to", "nothing may be sent to"):
        with pytest.raises(NotDelivered, match=said):
            await sender.post("https://a.example.com/in", b"{}", {})
    await sender.close()

    assert attempts == [("1.1.1.1", 443)]


async def test_it_connects_to_the_address_that_was_checked(attempts: list[Any]) -> None:
    asked: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return ["1.1.1.1"] if len(asked) == 1 else ["127.0.0.1"]

    await posted("https://a.example.com/in", resolve, ports=frozenset({443}))

    assert asked == ["a.example.com"]
    assert attempts == [("1.1.1.1", 443)]


async def test_proxy_variables_are_ignored(attempts: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    await posted("https://a.example.com/in", answering(["1.1.1.1"]), ports=frozenset({443}))

    assert attempts == [("1.1.1.1", 443)]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_not_denied(address: str) -> None:
    assert not is_denied(address)
    assert ip_address(address).is_global


async def test_a_certificate_of_another_name_is_not_accepted(fleet: Any) -> None:
    sender = fleet.relay.sender()
    port = fleet.receivers["ledger"].port
    sender._client.connector._resolver._resolve = answering(["127.0.0.1"])
    try:
        with pytest.raises(NotDelivered, match="certificate"):
            await sender.post(f"https://other.example.com:{port}/in", b"{}", {})
    finally:
        await sender.close()
    assert fleet.receivers["ledger"].got == []
