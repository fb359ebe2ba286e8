"""Faults that a test switches on: of Web API methods, and of envelopes by their kind.

A fault names a method (`chat.update`, or `response_url`), an envelope kind (`slash_commands`,
`block_actions`, `view_submission`, `app_mention`, ...) or type (`events_api`, `interactive`), starts at the nth
matching call and holds for so many. Without a name it strikes whatever comes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json

METHOD_EFFECTS = frozenset({"429", "500", "503", "error", "delay", "reset_after"})
ENVELOPE_EFFECTS = frozenset({"delay", "lost_ack", "duplicate", "disconnect", "silence", "skew"})
EFFECTS = METHOD_EFFECTS | ENVELOPE_EFFECTS
RESPONSE_URL = "response_url"
#: Fetching a shared file, which is no method of the Web API.
FILE_DOWNLOAD = "files.download"
#: What people do, as it is sent to the app. Beside these, envelopes have the names of events as their kinds.
INTERACTIONS = frozenset(
    {
        "slash_commands",
        "block_actions",
        "view_submission",
        "view_closed",
        "block_suggestion",
        "message_action",
        "shortcut",
    }
)
#: Types of envelopes that have several kinds: all events, and all interactions but commands.
ENVELOPE_TYPES = frozenset({"events_api", "interactive"})


@dataclass
class Fault:
    """One switched-on fault; `seen` counts the calls that matched."""

    id: str
    method: str
    effect: str
    nth: int = 1
    times: int = 1
    error: str = "internal_error"
    seconds: float = 1.0
    reason: str = "refresh_requested"
    seen: int = 0


class Faults:
    """The faults in force, in the order in which they were added. `events` are the names of events that are sent."""

    def __init__(self, events: frozenset[str]) -> None:
        self.envelopes = INTERACTIONS | ENVELOPE_TYPES | events
        self._faults: list[Fault] = []
        self._added = 0

    def add(self, fields: Json) -> Fault:
        """`fields` as in the control call; raises BadAct for an effect that cannot happen there."""
        method = fields.get("method", "")
        allowed = ENVELOPE_EFFECTS if method in self.envelopes else METHOD_EFFECTS if method else EFFECTS
        if fields["effect"] not in allowed:
            raise BadAct(f"effect {fields['effect']!r} is not one of {', '.join(sorted(allowed))}")
        self._added += 1
        fault = Fault(id=f"F{self._added}", **{"method": method, **fields})
        self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Switch every fault off."""
        self._faults.clear()

    def of_method(self, method: str) -> Fault | None:
        """The fault that strikes this call of a Web API method, counted for every fault it matches."""
        return self._take((method,), METHOD_EFFECTS)

    def of_envelope(self, envelope_type: str, kind: str) -> Fault | None:
        """The fault that strikes this envelope, counted for every fault it matches."""
        return self._take((envelope_type, kind), ENVELOPE_EFFECTS)

    def _take(self, names: tuple[str, ...], effects: frozenset[str]) -> Fault | None:
        """The first fault that strikes this call; every matching fault counts the call."""
        striking = None
        for fault in self._faults:
            if fault.method in ("", *names) and fault.effect in effects:
                fault.seen += 1
                if striking is None and fault.nth <= fault.seen < fault.nth + fault.times:
                    striking = fault
        return striking

    def as_json(self) -> list[Json]:
        """The faults in force, with how often each matched."""
        return [asdict(fault) for fault in self._faults]
