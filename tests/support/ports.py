"""Ports that are free at this moment, for programs that must be told theirs."""

import socket


def free_ports(count: int) -> int:
    """The first of `count` neighbouring ports on 127.0.0.1 that nothing listens on."""
    for _ in range(200):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first: int = probe.getsockname()[1]
        if first + count < 65536 and all(_is_free(first + n) for n in range(count)):
            return first
    raise RuntimeError(f"no {count} neighbouring free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
