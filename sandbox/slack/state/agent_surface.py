"""What an agent app shows apart from messages: a status line in a thread, prompts where a talk begins.

A status goes away with the app's next message in the thread, or after two minutes. Prompts stay until others
take their place. Neither survives a restart.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.slack.clock import Clock
from sandbox.slack.json_object import Json
from sandbox.slack.state.store import Store

STATUS_SECONDS = 120
MAX_PROMPTS = 4


@dataclass(frozen=True)
class Prompts:
    """Sentences a person may send with a press. `title` is shown above them."""

    title: str
    prompts: tuple[Json, ...]


class AgentSurface:
    """Statuses by channel and thread, prompts by channel."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._statuses: dict[tuple[str, str], tuple[str, float]] = {}
        self._prompts: dict[str, Prompts] = {}

    def reset(self) -> None:
        """Forget every status and prompt."""
        self._statuses.clear()
        self._prompts.clear()

    def set_status(self, channel: str, thread_ts: str, status: str) -> None:
        """Show a status line in a thread; an empty one takes it away."""
        if status:
            self._statuses[channel, thread_ts] = (status, self._clock.now())
        else:
            self._statuses.pop((channel, thread_ts), None)

    def statuses(self, channel: str) -> list[Json]:
        """The lines shown in a channel now: `{thread_ts, status}`."""
        return [
            {"thread_ts": ts, "status": status}
            for (where, ts), (status, at) in self._statuses.items()
            if where == channel and self._is_shown(where, ts, at)
        ]

    def _is_shown(self, channel: str, thread_ts: str, at: float) -> bool:
        answered = any(
            one.get("bot_id") and float(one["ts"]) >= at for one in self._store.replies(channel, thread_ts)
        )
        return not answered and self._clock.now() - at < STATUS_SECONDS

    def set_prompts(self, channel: str, prompts: Prompts) -> None:
        """Suggest these prompts in a channel, in place of any others."""
        self._prompts[channel] = prompts

    def prompts(self, channel: str) -> Prompts | None:
        """What the app last suggested in a channel, or None."""
        return self._prompts.get(channel)
