"""The tester's calls under `/_control`, outside the API and for loopback peers only.

`dispatch` is the table of them and answers one; `state_view` is the whole truth as `GET /_control/state` shows it,
`page_view` what the viewer page draws.
"""

from __future__ import annotations

from sandbox.partner.control.dispatch import CALLS

__all__ = ["CALLS", "dispatch", "page_view"]
