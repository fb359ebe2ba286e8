"""The web page on which one person plays the whole team: its files, and what it shows of the workspace.

The page reads one person's state over a WebSocket (`Live`) and acts through `/_control`; it knows nothing else.
`state_view` makes that state, and the whole of it for tests.

`static` holds the page itself, without a build step; the server gives it under `/static`. `page.js` is its beginning.
Its rooms: `client` (connection, look-ups), `dom` (elements, icons), `text` (markup, dates, emoji), `block_kit`
(blocks and inputs) and `panels` (messages, composer, modals, rail, wire log).
"""

from __future__ import annotations

from pathlib import Path

from sandbox.slack.page.live import Live
from sandbox.slack.page.state_view import state_seen_by, whole_state

#: The folder of the page's files; `page.html` is the page.
STATIC = Path(__file__).parent / "static"

__all__ = ["STATIC", "Live", "state_seen_by", "whole_state"]
