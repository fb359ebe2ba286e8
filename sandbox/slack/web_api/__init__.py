"""What the app calls: Slack's Web API, response URLs, uploads and downloads, refusing what Slack refuses.

A method is a function `(workspace, args) -> fields`; `METHODS` has every one by name with its rate limit and its
scope. A refusal is a `SlackError`, answered as `{"ok": false, "error": ...}`. Events about it
are sent by `delivery`.

`dispatch` (token, scope, rate limit, then the method) · `arguments` and `paging` · a file for each family of
methods: `chat`, `conversations`, `users`, `views`, `files`, `assistant`, and those in `collaboration` ·
`content_checks` (what may be sent) · `response_url` · `file_downloads`.

Source: https://docs.slack.dev/apis/web-api
"""

from __future__ import annotations

from sandbox.slack.web_api.content_checks import check_blocks, check_view
from sandbox.slack.web_api.dispatch import WebApi
from sandbox.slack.web_api.methods import METHODS

__all__ = [
    "METHODS",
    "WebApi",
    "check_blocks",
    "check_view",
    "collaboration",
    "file_downloads",
    "files",
    "response_url",
]
