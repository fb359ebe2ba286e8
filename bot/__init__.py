"""Countersign: card operations in Slack, with a second signature on everything that moves money.

This package decides; `handlers` talk to people, `storage` remembers. What each part of it is for and what it may use
is drawn from the code in docs/design.md. Imports point downward only; only `bot.app` constructs things.
"""

import gc
import sys

# The start makes some hundred thousand objects that stay. By default Python looks through them for
# garbage after each 700 new ones, which takes a tenth of the start.
gc.set_threshold(50_000)

# httpx brings a command of its own, with the libraries that colour its output. Nobody calls it, and where it cannot be
# imported httpx does without.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # as Python's own documentation has it

__version__ = "0.1.0"
