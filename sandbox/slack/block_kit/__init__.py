"""Block Kit, as strict as Slack: what may be in messages and views, and what their elements hold.

A list of blocks or a view goes in, Slack's complaints come out (none means that Slack would take it). Nothing
here knows the workspace, the app or the network.

`limits` checks whole messages, views and suggestions, by the tables of `block_rules` and `element_rules`, which
are made of the small `checks`. `stored_blocks` gives blocks the form in which Slack keeps them and finds elements
in them; `input_values` is what an element holds when a person has used it.

Source: https://docs.slack.dev/reference/block-kit
"""

from __future__ import annotations

__all__ = ["input_values", "limits", "stored_blocks"]
