"""Starts: the empty account that a reset gives, and named situations to try a client against.

`catalogue` lists and plays them. Most are files in `files`, in the form of `scenario_file` that everybody can write
them in; `spending_scenarios` and `funding_scenarios` have those that reach into the past, and `seeds` is the people,
cards and float that each begins with.
"""

from __future__ import annotations

from sandbox.partner.scenarios.catalogue import SCENARIOS
from sandbox.partner.scenarios.funding_scenarios import FUNDING

__all__ = ["FUNDING", "SCENARIOS", "catalogue", "scenario_file", "seeds"]
