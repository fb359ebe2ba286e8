"""Ports that are free now, for programs that must be given theirs."""

import random
import socket

# Below those that the system gives to outgoing calls: a port that is free now is not taken by the next of them.
_RANGE = range(20_000, 32_000)


def free_ports(count: int) -> int:
    """The first of `count` neighbouring ports on 127.0.0.1 that nothing listens on."""
    for _ in range(200):
        first = random.SystemRandom().choice(_RANGE)  # the seed that tests share would give all the same
        if all(_is_free(first + n) for n in range(count)):
            return first
    raise RuntimeError(f"no {count} neighbouring free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
