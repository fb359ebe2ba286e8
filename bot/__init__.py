"""Countersign: card operations in Slack, with a second signature on everything that moves money.

This package decides; `handlers` talk to people, `storage` remembers. What each part of it is for and what it may use
is drawn from the code in docs/design.md. Imports point downward only; only `bot.app` constructs things.
"""

__version__ = "0.1.0"
