"""`/_control`: what the page and tests may do that no app can: act as people, read everything, change the workspace.

JSON in and out. A field that is unknown, missing or of the wrong kind is a 400 that names it. Slack has nothing like
it, so the paths stand apart from Slack's own.

`calls` (the calls by name) · `routes` (method and path to an answer) · `description` (the calls as OpenAPI) ·
`workspace_admin` (people, groups, channels, messages tampered with).
"""

from __future__ import annotations

from sandbox.slack.control.calls import CALLS
from sandbox.slack.control.routes import Control, NoSuchCall, answer_to

__all__ = ["CALLS", "Control", "NoSuchCall", "answer_to", "workspace_admin"]
