"""Which network addresses nothing of ours may be sent to. Pure.

A list of what is refused and why, not `ipaddress.is_global`: that one calls global what is translated to
127.0.0.1 on the way (NAT64, 6to4), multicast, and some addresses where clouds keep their metadata.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  # private
        "100.64.0.0/10",  # carrier-grade NAT; clouds keep metadata in it
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent, on a public address
        "169.254.0.0/16",  # link-local, cloud metadata
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata is at 192.0.0.192
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  # documentation
        "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24",  # AS112, AMT
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarking
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)  # fmt: skip
# Of IPv6 only what was given out for hosts; loopback, mapped, NAT64, link-local and multicast lie outside.
_V6_ALLOWED = IPv6Network("2000::/3")
_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32", "3fff::/20",  # documentation
        "2002::/16",  # 6to4: any IPv4 address inside
        "2620:4f:8000::/48",  # AS112
    )
)  # fmt: skip


def is_denied(text: str) -> bool:
    """May this address not be connected to? Whatever cannot be read as one may not."""
    try:
        address = ip_address(text)
    except ValueError:
        return True
    if isinstance(address, IPv4Address):
        return any(address in network for network in _V4)
    return _is_denied_v6(address)


def _is_denied_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _V6_ALLOWED:
        return True
    return any(address in network for network in _V6)


def is_address(host: str) -> bool:
    """An IP address in any spelling that some resolver takes: `127.1`, `0x7f.1`, `2130706433`, `[::1]`."""
    if ":" in host or host.isdigit():
        return True
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True
