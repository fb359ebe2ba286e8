"""Metrics for Prometheus, on an address of their own: what this process has counted, and what the database holds.

    exposition   the metrics: names, labels, and their values now
    sources      what they are made of
    server       who answers `GET /metrics`

No label holds an id, a person or a commit hash; each state, job and finding is there from the start.
"""

from bot.metrics.server import serve
from bot.metrics.sources import Sources

__all__ = ["Sources", "serve"]
