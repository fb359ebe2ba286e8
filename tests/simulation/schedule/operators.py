"""Steps in which people come, go and change, or stop and start sending."""

from __future__ import annotations

import random

from sandbox.slack.control import workspace_admin
from tests.simulation.schedule.stage import Json, Stage
from tests.simulation.world import BOB, CAROL


class OperatorSteps(Stage):
    """People of the workspace, and those who run Countersign."""

    def do_person(self, rng: random.Random, who: str, change: Json) -> None:
        self.change_person(who, change)

    def change_person(self, who: str, change: Json) -> None:
        workspace_admin.change_person(self.world.slack, {"id": who, **change})
        self.note_who_left()

    def do_group(self, rng: random.Random, users: list[str]) -> None:
        workspace_admin.change_group(self.world.slack, {"handle": "card-approvers", "users": users})
        self.note_who_left()

    def do_pause(self, rng: random.Random, by: str) -> None:
        self.people.pause(by)

    def do_resume(self, rng: random.Random, by: str, second: str = "") -> None:
        self.people.resume(*((by, second) if second else (BOB, CAROL)))
