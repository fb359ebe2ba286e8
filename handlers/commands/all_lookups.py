"""Every look-up there is, made of the rows of each command's module; `handlers.commands.lookup` says what a row is."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.commands import (
    card_lookups,
    countersign_lookups,
    exports,
    float_lookups,
    funding_lookups,
    operator_lookups,
    request_lookups,
)
from handlers.commands.lookup import LookUp

_MODULES = (
    card_lookups,
    float_lookups,
    funding_lookups,
    request_lookups,
    countersign_lookups,
    operator_lookups,
    exports,
)
LOOK_UPS: Mapping[tuple[str, str], LookUp] = {
    look_up.name: look_up for module in _MODULES for look_up in module.LOOK_UPS
}
COMMANDS = tuple(dict.fromkeys(command for command, _ in LOOK_UPS))
