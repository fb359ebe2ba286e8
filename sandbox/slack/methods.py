"""Every Web API method the stand-in offers, by name."""

from __future__ import annotations

from sandbox.slack import (
    methods_agent,
    methods_chat,
    methods_conversations,
    methods_files,
    methods_people,
    methods_views,
)
from sandbox.slack.web_api import Method

METHODS: dict[str, Method] = {
    **methods_people.METHODS,
    **methods_conversations.METHODS,
    **methods_chat.METHODS,
    **methods_views.METHODS,
    **methods_agent.METHODS,
    **methods_files.METHODS,
}
