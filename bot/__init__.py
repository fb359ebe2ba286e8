"""Countersign: card operations in Slack, with a second signature on everything that moves money.

This package decides; `handlers` talk to people, `storage` remembers. What each part of it is for and what it may use
is drawn from the code in docs/design.md; imports point downward only. `bot.app` is the only place that constructs things.
"""

__version__ = "0.1.0"
