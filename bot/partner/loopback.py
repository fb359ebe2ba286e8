"""What counts as this machine: the one definition, for every check of an address in this project.

It stands here because this package imports nothing of ours and is imported by nearly everything else.
"""

from ipaddress import IPv6Address, ip_address


def is_loopback(host: str) -> bool:
    """Return whether `host` can only be this machine.

    True for `localhost`, all of 127.0.0.0/8 and ::1, also an IPv4 address mapped into IPv6. Any other name is
    False: what it leads to can change. `host` has no brackets and no port, as `urlsplit(url).hostname` gives it.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    # Before Python 3.13 a mapped address is not loopback by itself.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
