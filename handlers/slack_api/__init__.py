"""Slack's Web API as the bot uses it: people and channels, messages, files, charts, tokens, the agent's status line."""

from handlers.slack_api.agent import Agent
from handlers.slack_api.announcing import announce
from handlers.slack_api.audit_channel import posted_anchors
from handlers.slack_api.directory import SlackDirectory
from handlers.slack_api.errors import SlackUnreachable, code_of, retry_after_s, status_of
from handlers.slack_api.files import fetch
from handlers.slack_api.links import with_links
from handlers.slack_api.posted_messages import posted_messages
from handlers.slack_api.publish import SlackPublisher

__all__ = [
    "Agent",
    "SlackDirectory",
    "SlackPublisher",
    "SlackUnreachable",
    "agent",
    "announce",
    "chart_upload",
    "code_of",
    "fetch",
    "posted_anchors",
    "posted_messages",
    "retry_after_s",
    "status_of",
    "token_checks",
    "with_links",
]
