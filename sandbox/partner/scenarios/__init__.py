"""Starts: the empty account that a reset gives, and named situations to try a client against.

`catalogue` lists and plays them. They are files in `files`, in the form of `scenario_file` that everybody can write
them in, and `seeds` is the people, cards and float that each begins with.
"""

from __future__ import annotations

from sandbox.partner.scenarios.catalogue import FUNDING, SCENARIOS

__all__ = ["FUNDING", "SCENARIOS", "catalogue", "scenario_file", "seeds"]
