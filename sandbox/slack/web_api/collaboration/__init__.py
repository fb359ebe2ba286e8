"""What people and apps do together beyond messages: reactions, pins, channels, scheduled and streamed messages, groups.

Each module is a family of methods of the Web API and lists what it offers as `METHODS`; this is all of them.
"""

from __future__ import annotations

from sandbox.slack.web_api.collaboration import channel_changes, directory, later_messages, pins, reactions
from sandbox.slack.web_api.dispatch import Method

METHODS: dict[str, Method] = {
    **reactions.METHODS,
    **pins.METHODS,
    **channel_changes.METHODS,
    **later_messages.METHODS,
    **directory.METHODS,
}

__all__ = ["METHODS"]
