"""All checks of one world, and when each of them looks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tests.simulation.invariants.alerts import Alerts
from tests.simulation.invariants.departures import Departures
from tests.simulation.invariants.links import Links
from tests.simulation.invariants.money import Money
from tests.simulation.invariants.moves import Moves
from tests.simulation.invariants.purchases import Purchases
from tests.simulation.invariants.record import Record
from tests.simulation.invariants.relayed import Relayed
from tests.simulation.invariants.reports import Reports
from tests.simulation.invariants.secrecy import Secrecy
from tests.simulation.invariants.truth import Truth
from tests.simulation.world import World


class Watch(Record):
    """Looks at everything of one world: after every commit, at every call, after every step, at the end."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.moves, self.departures = Moves(self), Departures(self)
        self.truth, self.reports, self.alerts = Truth(self), Reports(self), Alerts(self)
        self.money, self.purchases, self.secrecy = Money(self), Purchases(self), Secrecy(self)
        self.relayed, self.links = Relayed(self), Links(self)
        world.on_commit = self.moves.after_commit
        world.on_lost_commit = self.note_database_trouble
        world.on_departure = self.departures.on_departure
        world.on_arrival = self.departures.on_arrival

    def after_step(self) -> None:
        self.truth.after_step()
        self._one_holder()

    def _one_holder(self) -> None:
        """I-18: of several processes at most one believes that it may do a thing that is locked."""
        up = [one for one in self.world.processes if one.owner.alive]
        for one, other in combinations(up, 2):
            if both := sorted(one.held & other.held):
                who = f"{one.owner.name} and {other.owner.name}"
                self.broken("I-18 one holder", f"{who} hold {', '.join(both)} at once")

    def emergencies_first(self, harmless: bool) -> None:
        """A Freeze now leaves before everything else; `harmless`: nothing but the API's silence is in its way."""
        self.departures.emergencies_first(harmless)

    def at_the_end(self) -> None:
        """Everything is at rest."""
        rows = self.world.rows("SELECT * FROM request ORDER BY created_at, id")
        self.world.say("— everything is at rest; now the checks —")
        self.truth.at_the_end(rows)
        self.reports.at_the_end(rows)
        self.alerts.at_the_end(rows)
        self.money.at_the_end(rows)
        self.purchases.at_the_end()
        self.relayed.at_the_end()
        self.links.at_the_end()
        self.secrecy.at_the_end()

    def final_sums(self) -> Iterator[str]:
        """What the sandbox itself says of its sums."""
        yield from self.world.tell_partner("state", method="GET")["invariants"]["broken"]
