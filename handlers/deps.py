"""What every listener is given."""

from __future__ import annotations

from dataclasses import dataclass

from bot.services.core import Core
from handlers.after import AfterAck


@dataclass(frozen=True, slots=True)
class Deps:
    """Built by `bot.app` and handed to `handlers.register`."""

    core: Core
    after: AfterAck
