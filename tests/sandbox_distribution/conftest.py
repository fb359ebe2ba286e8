"""The fixtures of the plugin as its users have them: here they are imported, where an entry point brings them."""

from sandbox.testing.plugin import (
    partner_sandbox,
    partner_server,
    partner_start,
    sandbox_background,
    sandbox_servers,
    slack_channels,
    slack_manifest,
    slack_people,
    slack_sandbox,
    slack_server,
)

__all__ = [
    "partner_sandbox",
    "partner_server",
    "partner_start",
    "sandbox_background",
    "sandbox_servers",
    "slack_channels",
    "slack_manifest",
    "slack_people",
    "slack_sandbox",
    "slack_server",
]
