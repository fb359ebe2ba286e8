"""What every listener is given."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.services.conversation import Reader
from bot.services.core import Core
from handlers.background_tasks import AfterAck
from handlers.budget import Budget
from handlers.slack_api import Agent


@dataclass(frozen=True, slots=True)
class Deps:
    """Built by `bot.entrances` and handed to `handlers.register`."""

    core: Core
    after: AfterAck
    agent: Agent = field(default_factory=Agent)
    reader: Reader = field(default_factory=Reader)
    budget: Budget = field(default_factory=Budget)  # of plain English, by person
    done: Budget = field(default_factory=lambda: Budget(of_everything=True))
