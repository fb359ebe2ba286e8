"""What is in the Slack workspace: people, channels, messages, files, open views, and what the app declared.

Objects are kept in the form in which Slack sends them; what a person would find
again tomorrow is saved (`Store` through `Persist`), the rest ends with the process. Nothing here knows how the
app is called or reached.

`people` (people, groups, channels, the demo's workspace) · `cast` (another one, from files) · `manifest` (what the
app declared) · `store` and `persistence` · `messages` and `file_objects` (their JSON) · `user_object` (a person's
JSON) · `open_views` (modals and home tabs) · `triggers` (short-lived permissions) · `agent_surface` (statuses and
prompts).
"""

from __future__ import annotations

from sandbox.slack.state.agent_surface import MAX_PROMPTS, AgentSurface, Prompts
from sandbox.slack.state.cast import Cast, CastError
from sandbox.slack.state.manifest import SUPPORTED_EVENTS, Command, Manifest, ManifestError
from sandbox.slack.state.open_views import View, Views
from sandbox.slack.state.people import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM_DOMAIN,
    TEAM_ID,
    TEAM_NAME,
    VERIFICATION_TOKEN,
    Channel,
    Group,
    Person,
)
from sandbox.slack.state.persistence import Persist
from sandbox.slack.state.store import Ephemeral, Store, StoredFile
from sandbox.slack.state.triggers import ResponseUrl, ResponseUrls, Triggers
from sandbox.slack.state.user_object import email_of, user_json

__all__ = [
    "APP_ID",
    "BOT_ID",
    "BOT_USER",
    "MAX_PROMPTS",
    "SUPPORTED_EVENTS",
    "TEAM_DOMAIN",
    "TEAM_ID",
    "TEAM_NAME",
    "VERIFICATION_TOKEN",
    "AgentSurface",
    "Cast",
    "CastError",
    "Channel",
    "Command",
    "Ephemeral",
    "Group",
    "Manifest",
    "ManifestError",
    "Persist",
    "Person",
    "Prompts",
    "ResponseUrl",
    "ResponseUrls",
    "Store",
    "StoredFile",
    "Triggers",
    "View",
    "Views",
    "cast",
    "email_of",
    "file_objects",
    "manifest",
    "messages",
    "user_json",
]
