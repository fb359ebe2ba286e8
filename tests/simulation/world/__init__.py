"""The world of one seed.

names        people, channels, addresses, the moment at which each seed begins
furniture    what is the same for every seed: an empty database, settings, the API's cards and money
process      one process of the bot
api_side     the API's sandbox, the calls that reach it, the events it delivers
slack_side   the workspace, the calls that reach it, what it sends to the bot
stand_ins    in place of what reads the machine's clock, threads or files
world        all of it together
"""

from tests.simulation.world.furniture import folder_in_memory, memory
from tests.simulation.world.installation import (
    DETAILS_URL,
    MASTERS,
    RELAY_URL,
    RELAYED,
    SLACK_TOKENS,
    Installation,
    Policy,
)
from tests.simulation.world.names import ALERTS, ALICE, APPROVALS, BOB, CAROL, DAVE, GUEST, OPS, START
from tests.simulation.world.process import Killed, Process
from tests.simulation.world.stand_ins import take_over
from tests.simulation.world.world import World

__all__ = [
    "ALERTS",
    "ALICE",
    "APPROVALS",
    "BOB",
    "CAROL",
    "DAVE",
    "DETAILS_URL",
    "GUEST",
    "MASTERS",
    "OPS",
    "RELAYED",
    "RELAY_URL",
    "SLACK_TOKENS",
    "START",
    "Installation",
    "Killed",
    "Policy",
    "Process",
    "World",
    "folder_in_memory",
    "memory",
    "take_over",
]
