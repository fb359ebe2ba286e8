"""What is in deploy/ fits what is served and what the docs say. What cannot run here is checked by its own tool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_docs_pages import anchor, headings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "countersign.json"
_NAME = re.compile(r"\bcountersign_[a-z_]+")


def documented() -> set[str]:
    """The metrics of docs/metrics.md, which a running bot is held to in tests/integration/test_metrics.py."""
    return set(
        re.findall(
            r"^\| `(countersign_[a-z_]+)` \|", (ROOT / "docs" / "metrics.md").read_text(), re.MULTILINE
        )
    )


def metric(name: str) -> str:
    """Without what Prometheus adds to the name of a histogram."""
    return re.sub(r"_(bucket|count|sum)$", "", name)


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions() -> Iterator[str]:
    for rule in rules():
        yield rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_dashboard_and_rules_name_only_metrics_that_are_served() -> None:
    named = {metric(name) for expression in expressions() for name in _NAME.findall(expression)}

    assert {name for name in named if not name.startswith("countersign_process_")} <= documented()


def test_every_metric_is_on_the_dashboard_or_in_a_rule() -> None:
    named = {metric(name) for expression in expressions() for name in _NAME.findall(expression)}

    assert documented() - named == set()


def test_every_rule_leads_to_a_section_of_the_runbook() -> None:
    known = {anchor(title) for title in headings("runbook.md")}
    for rule in rules():
        page, _, section = rule["annotations"]["runbook_url"].partition("#")
        assert page == "https://countersign.example.com/docs/runbook.md"
        assert section in known, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning")


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"deploy/: {name} is not installed")
    return found


def test_prometheus_takes_the_rules() -> None:
    checked = subprocess.run([tool("promtool"), "check", "rules", RULES], capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_panels_of_the_dashboard_are_apart_and_ask_the_chosen_prometheus() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]

    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels]
    assert len(set(taken)) == len(taken)
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
