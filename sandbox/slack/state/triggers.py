"""What an interaction lets the app do for a while: open a view (trigger), answer in place (response URL).

A trigger lives three seconds and works once; a response URL works five times within thirty minutes.
Both are forgotten when the stand-in restarts, where Slack's would still work.

Source: https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.slack.clock import Clock
from sandbox.slack.errors import SlackError
from sandbox.slack.ids import Ids

RESPONSE_USES = 5
RESPONSE_SECONDS = 30 * 60


@dataclass
class Trigger:
    """Permission to open one view for `user`; `view_id` is the modal it came from, if any."""

    user: str
    issued_at: float
    view_id: str | None = None
    used: bool = False


class Triggers:
    """Issues triggers and lets each be used once in time."""

    def __init__(self, clock: Clock, ids: Ids, life_seconds: float) -> None:
        self._clock = clock
        self._ids = ids
        self._life_seconds = life_seconds
        self._issued: dict[str, Trigger] = {}

    def reset(self) -> None:
        """Forget every trigger."""
        self._issued.clear()

    def issue(self, user: str, view_id: str | None = None) -> str:
        """A fresh trigger id for `user`, from the modal `view_id` if the act was in one."""
        trigger_id = self._ids.trigger_id()
        self._issued[trigger_id] = Trigger(user, self._clock.now(), view_id)
        return trigger_id

    def use(self, trigger_id: str) -> Trigger:
        """Raises SlackError `invalid_trigger_id`, `exchanged_trigger_id` or `expired_trigger_id`."""
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._clock.now() - trigger.issued_at > self._life_seconds:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger


@dataclass
class ResponseUrl:
    """Where an answer goes: to whom, in which channel, about which message."""

    user: str
    channel: str
    issued_at: float
    message_ts: str | None = None
    thread_ts: str | None = None
    uses: int = 0


class ResponseUrls:
    """Issues response URLs and counts their uses."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self._issued: dict[str, ResponseUrl] = {}

    def reset(self) -> None:
        """Forget every response URL."""
        self._issued.clear()

    def issue(
        self, user: str, channel: str, message_ts: str | None = None, thread_ts: str | None = None
    ) -> str:
        """A fresh secret for the path `/response/<secret>`."""
        secret = self._ids.hex(40)
        self._issued[secret] = ResponseUrl(user, channel, self._clock.now(), message_ts, thread_ts)
        return secret

    def look(self, secret: str) -> ResponseUrl:
        """Raises SlackError `expired_url` (404) or `used_url` (404); counting a use is the caller's."""
        url = self._issued.get(secret)
        if url is None or self._clock.now() - url.issued_at > RESPONSE_SECONDS:
            raise SlackError("expired_url", status=404)
        if url.uses >= RESPONSE_USES:
            raise SlackError("used_url", status=404)
        return url
