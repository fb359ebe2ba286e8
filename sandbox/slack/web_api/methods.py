"""Every Web API method the stand-in offers, by name."""

from __future__ import annotations

from sandbox.slack.web_api import assistant, chat, collaboration, conversations, files, users, views
from sandbox.slack.web_api.dispatch import Method

METHODS: dict[str, Method] = {
    **users.METHODS,
    **conversations.METHODS,
    **chat.METHODS,
    **views.METHODS,
    **assistant.METHODS,
    **files.METHODS,
    **collaboration.METHODS,
}
