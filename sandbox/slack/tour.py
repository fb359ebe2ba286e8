"""The tour: what the page suggests to a newcomer, one step after the other, as the app behind it chooses."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.slack.json_object import Json


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try.

    `say` is the sentence; `{go}` in it is replaced by the link `go`. The link plays `user` in `channel` (ids or names)
    and types `types` there, or opens `address`. The step is done once a message in `done_in` holds `done_text`.
    """

    say: str
    done_in: str
    done_text: str
    go: str = ""
    user: str = ""
    channel: str = ""
    types: str = ""
    address: str = ""

    def as_json(self) -> Json:
        """For the page."""
        return {name: getattr(self, name) for name in self.__slots__}
