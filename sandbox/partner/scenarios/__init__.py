"""Starts: the empty account that a reset gives, and named situations to try a client against.

`catalogue` lists and plays them; `spending_scenarios` and `funding_scenarios` are two families of them, and
`seeds` is the people, cards and float that each begins with.
"""

from __future__ import annotations

from sandbox.partner.scenarios.catalogue import SCENARIOS
from sandbox.partner.scenarios.funding_scenarios import FUNDING

__all__ = ["FUNDING", "SCENARIOS", "catalogue"]
