"""The sandbox in somebody's tests: `plugin` has the pytest fixtures, `partner` and `slack` what they hand out.

The servers run in a thread of their own, so that tests may be synchronous or asynchronous: each object has plain
methods that wait, and all of it to await under `aio`.
"""

from __future__ import annotations

from sandbox.testing.partner import PartnerSandbox
from sandbox.testing.slack import SlackSandbox

__all__ = ["PartnerSandbox", "SlackSandbox"]
