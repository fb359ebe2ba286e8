"""Who and what there is in every world: people, channels, addresses, the moment at which each seed begins."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
APPROVALS, ALERTS, OPS = "C0APPROVALS", "C0ALERTS", "C0OPS"
ALICE, BOB, CAROL, DAVE = "U0ALICE", "U0BOB", "U0CAROL", "U0DAVE"
GUEST = "U0GUEST"
SLACK_URL = "http://slack.invalid"
API_URL = "http://127.0.0.1:8401"
