"""What people do in Slack, and what Slack makes of the app's answer: commands, clicks, messages, modals, Home.

Each act is a coroutine; it ends when the app has acknowledged (or has not) and answers an outcome, an object with
`acked`, `ack_ms` (milliseconds, or None) and `reason` where there was no ack. `BadAct` says that nobody could have
done that in Slack's own client.

People may act wherever the control call says, members of the channel or not, deactivated or not:
such clicks reach real apps too, in the seconds before Slack's own clients notice, and an app must
not rely on Slack to stop them. What nobody can do is touch another person's ephemeral message,
direct message or modal.

`commands` · `clicks` (in messages, and shortcuts) · `composer` (messages and files) · `modals` (modals and home
tabs) · `actors` (what they share).

Source: https://docs.slack.dev/interactivity
"""

from __future__ import annotations

from sandbox.slack.interactions.clicks import click_message, use_global_shortcut, use_shortcut
from sandbox.slack.interactions.commands import command
from sandbox.slack.interactions.composer import share_files, write
from sandbox.slack.interactions.modals import open_home

__all__ = [
    "actors",
    "click_message",
    "command",
    "composer",
    "modals",
    "open_home",
    "share_files",
    "use_global_shortcut",
    "use_shortcut",
    "write",
]
