"""A strict stand-in for Slack: the Web API, Socket Mode and the people who use them.

An app built on Slack's own SDK connects to it with nothing changed but the base address of the
Web API. It is a program of its own: it imports nothing of the product it is used to test, and its
reading of Slack's rules is its own.

What it is not: a replacement for Slack, a security boundary, or a place to keep anything. It
listens on loopback, and everyone who reaches it may act as anybody; that is its purpose.

`serve` starts it and answers a `Running`, whose `workspace` a test in the same process may read and drive through
`interactions` and `control`. Other processes use `/_control` (the calls are in `control`).

Rooms, each above those after it: `server` (address and routes) · `control` (what tests and the page may call) ·
`page` (the web page) · `interactions` (what people do) · `web_api` (what the app calls) · `workspace` (the parts put
together) · `delivery` (how the app is reached) · `state` (what is in the workspace) · `block_kit` (what Slack would
refuse). Below all: `tour`, `faults`, `rate_limits`, `clock`, `ids`, `errors`.
"""

from __future__ import annotations

from sandbox.slack.server import Running, serve
from sandbox.slack.tour import Step
from sandbox.slack.workspace import Options, Workspace

__all__ = [
    "Options",
    "Running",
    "Step",
    "Workspace",
    "block_kit",
    "control",
    "errors",
    "interactions",
    "page",
    "serve",
    "state",
    "web_api",
]
