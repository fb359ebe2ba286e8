"""What is in deploy/ fits what is served and what the docs say. What cannot run here is checked by its own tool."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from bot import app, cli, details, entrances, passkey_page, web
from bot.cli.serving import SHUTDOWN_S
from bot.cli.terminal import ExitCode
from bot.config import Settings
from bot.domain import process_roles
from tests.test_docs_pages import anchor, headings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "countersign.json"
_NAME = re.compile(r"\bcountersign_[a-z_]+")
#: The labels that Prometheus sets itself. Ours of that name it renames as it reads them: `job` to `exported_job`.
SET_BY_PROMETHEUS = {"job", "instance"}


def documented() -> set[str]:
    """The metrics of docs/metrics.md, which a running bot is held to in tests/integration/test_metrics.py."""
    return set(
        re.findall(
            r"^\| `(countersign_[a-z_]+)` \|", (ROOT / "docs" / "metrics.md").read_text(), re.MULTILINE
        )
    )


def documented_labels() -> dict[str, set[str]]:
    """The labels of each metric of docs/metrics.md, as they are served."""
    rows = re.findall(
        r"^\| `(countersign_[a-z_]+)` \| ([a-z, ]*)\|",
        (ROOT / "docs" / "metrics.md").read_text(),
        re.MULTILINE,
    )
    return {name: {label.strip() for label in labels.split(",")} - {""} for name, labels in rows}


def read_labels() -> dict[str, set[str]]:
    """As `documented_labels`, as Prometheus has them once it read them."""
    return {
        name: {f"exported_{label}" if label in SET_BY_PROMETHEUS else label for label in labels}
        for name, labels in documented_labels().items()
    }


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


#: Series of an installation with two processes in which all is well; promtool's notation: so many values more.
WELL = {
    'up{job="countersign", instance="one"}': "1x3000",
    'countersign_build_info{instance="one"}': "1x3000",
    'countersign_storage_writable{instance="one"}': "1x3000",
    'countersign_database_up{instance="one"}': "1x3000",
    'countersign_slack_connected{instance="one"}': "1x3000",
    'countersign_slack_connected{instance="two"}': "1x3000",
    'countersign_reads{program="main", instance="one"}': "0x3000",
    'countersign_reads{program="main", instance="two"}': "1x3000",
    'countersign_outbox_oldest_seconds{channel="alerts"}': "3x3000",
    'countersign_api_unanswered_seconds{program="main", instance="one"}': "0x3000",
    'countersign_api_unanswered_seconds{program="main", instance="two"}': "0x3000",
    'countersign_poll_age_seconds{exported_job="account"}': "59x3000",
    'countersign_poll_age_seconds{exported_job="ledger"}': "890x3000",
    "countersign_inbox_oldest_seconds": "1x3000",
    'countersign_requests{state="unresolved", kind="card_topup"}': "0x3000",
    'countersign_requests{state="executing", kind="card_topup"}': "0x3000",
    'countersign_alerts_open{severity="critical"}': "0x3000",
    'countersign_api_calls_total{operation="GET /me", status="200"}': "0+60x3000",
    'countersign_api_calls_total{operation="GET /me", status="503"}': "0+1x3000",
    'countersign_api_budget_left{program="main"}': "100x3000",
    'countersign_ack_seconds_bucket{kind="command", le="1.0"}': "0+10x3000",
    'countersign_ack_seconds_bucket{kind="command", le="3.0"}': "0+10x3000",
    'countersign_ack_seconds_bucket{kind="command", le="+Inf"}': "0+10x3000",
    'countersign_held_since_start{program="main", instance="one"}': "0x3000",
    "countersign_safe_mode": "0x3000",
    "countersign_audit_verified_age_seconds": "3600x3000",
}
#: The last call of a process that does not read this program was lost, and it has made none since.
CALLS_NO_MORE = {'countersign_api_unanswered_seconds{program="main", instance="one"}': "9999x3000"}
#: What each rule is for, in place of what is well.
TROUBLE = {
    "CountersignDown": {'up{job="countersign", instance="one"}': "0x3000"},
    "CountersignCannotStore": {'countersign_storage_writable{instance="one"}': "0x3000"},
    "CountersignSlackNotConnected": {
        'countersign_slack_connected{instance="one"}': "0x3000",
        'countersign_slack_connected{instance="two"}': "0x3000",
    },
    "CountersignProcessNotConnected": {'countersign_slack_connected{instance="two"}': "0x3000"},
    "CountersignMessagesWait": {'countersign_outbox_oldest_seconds{channel="alerts"}': "121x3000"},
    "CountersignApiNotAnswering": {
        'countersign_api_unanswered_seconds{program="main", instance="two"}': "31x3000"
    },
    "CountersignNotWatching": {'countersign_poll_age_seconds{exported_job="account"}': "301x3000"},
    "CountersignNobodyReads": {'countersign_reads{program="main", instance="two"}': "0x3000"},
    "CountersignEventsWait": {"countersign_inbox_oldest_seconds": "61x3000"},
    "CountersignUnresolved": {'countersign_requests{state="unresolved", kind="card_topup"}': "1x3000"},
    "CountersignStuckExecuting": {'countersign_requests{state="executing", kind="card_topup"}': "1x3000"},
    "CountersignCriticalAlertOpen": {'countersign_alerts_open{severity="critical"}': "1x3000"},
    "CountersignApiErrors": {
        'countersign_api_calls_total{operation="GET /me", status="503"}': "0+20x3000",
    },
    "CountersignRateBudgetUsedUp": {'countersign_api_budget_left{program="main"}': "11x3000"},
    "CountersignSlowAcks": {'countersign_ack_seconds_bucket{kind="command", le="1.0"}': "0+9x3000"},
    "CountersignHeldSinceStart": {'countersign_held_since_start{program="main", instance="one"}': "1x3000"},
    "CountersignSafeMode": {"countersign_safe_mode": "1x3000"},
    "CountersignAuditNotVerified": {"countersign_audit_verified_age_seconds": "172801x3000"},
}


def firing(alert: str, series: dict[str, str], expected: int) -> dict[str, Any]:
    """That so many alerts that match fire, after an hour of these series."""
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{{alert}alertstate="firing"}}) or vector(0)',
                "eval_time": "1h",
                "exp_samples": [{"labels": "{}", "value": expected}],
            }
        ],
    }


def test_the_series_that_the_rules_are_tried_on_have_the_labels_they_have_in_prometheus() -> None:
    known = read_labels()
    for series in {name for one in (WELL, CALLS_NO_MORE, *TROUBLE.values()) for name in one}:
        name, _, inside = series.partition("{")
        if name != "up":
            labels = set(re.findall(r"(\w+)=", inside))
            assert labels - {"instance", "le"} <= known[metric(name)], series


def test_dashboard_and_rules_group_by_labels_as_prometheus_has_them() -> None:
    known = read_labels()
    for expression in expressions():
        labels = {one.strip() for by in re.findall(r"\bby \(([^)]*)\)", expression) for one in by.split(",")}
        names = {metric(name) for name in _NAME.findall(expression)}
        may_be = {"instance", "le"}.union(*(known.get(name, set()) for name in names))
        assert labels <= may_be, expression


def test_each_rule_fires_on_what_it_is_for_and_none_where_all_is_well(tmp_path: Path) -> None:
    assert TROUBLE.keys() == {rule["alert"] for rule in rules()}
    tests = [firing("", WELL, 0)]
    tests += [firing(f'alertname="{name}", ', WELL | bad, 1) for name, bad in TROUBLE.items()]
    tests.append(firing("", WELL | CALLS_NO_MORE, 0))
    shutil.copy(RULES, tmp_path)
    wanted = {"rule_files": [RULES.name], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(wanted))

    checked(tool("promtool"), "test", "rules", "tests.yml", cwd=tmp_path)


def _served_by(roles: tuple[str, ...]) -> dict[str, str]:
    """What processes with one role each serve, as `bot.metrics.exposition` does."""
    found = {
        name: values
        for name, values in WELL.items()
        if not re.match(r"up|countersign_(build_info|reads|slack_connected|api_unanswered_seconds)", name)
    }
    for role in roles:
        found |= {
            f'up{{job="countersign", instance="{role}"}}': "1x3000",
            f'countersign_build_info{{instance="{role}"}}': "1x3000",
            f'countersign_reads{{program="main", instance="{role}"}}': f"{int(role == 'worker')}x3000",
            f'countersign_api_unanswered_seconds{{program="main", instance="{role}"}}': "0x3000",
        }
        if role == "slack":
            found[f'countersign_slack_connected{{instance="{role}"}}'] = "1x3000"
    return found


def test_that_no_process_has_a_role_is_noticed_though_nothing_serves_its_series(tmp_path: Path) -> None:
    """As in Kubernetes, where a Pod that is gone is no target any more. Without a web process the deliveries that do
    not arrive are an alert in Slack."""
    missing = {
        "CountersignDown": (),
        "CountersignNobodyReads": ("web", "slack"),
        "CountersignSlackNotConnected": ("worker", "web"),
    }
    tests = [firing("", _served_by(("worker", "web", "slack")), 0)]
    for name, left in missing.items():
        series = _served_by(left) if left else {"countersign_of_others": "1x3000"}
        tests.append(firing(f'alertname="{name}", ', series, 1))
    shutil.copy(RULES, tmp_path)
    wanted = {"rule_files": [RULES.name], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(wanted))

    checked(tool("promtool"), "test", "rules", "tests.yml", cwd=tmp_path)


def test_the_panels_of_the_dashboard_are_apart_and_ask_the_chosen_prometheus() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]

    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels]
    assert len(set(taken)) == len(taken)
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}


@pytest.fixture
def laid_out(tmp_path: Path) -> Path:
    """deploy/ with what each installation adds to it."""
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    local = tmp_path / "deploy" / "compose" / "local"
    local.mkdir()
    (local / ".env").write_text("SLACK_BOT_TOKEN=xoxb-1\n")
    shutil.copy(RULES, tmp_path / "deploy" / "compose" / "alerts.yml")
    return tmp_path / "deploy"


def checked(*command: str | Path, cwd: Path, **env: str) -> None:
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_configuration_beside_the_compose_file(laid_out: Path) -> None:
    checked(tool("promtool"), "check", "config", "prometheus.yml", cwd=laid_out / "compose")


def test_compose_takes_the_file(laid_out: Path) -> None:
    secrets = {"POSTGRES_PASSWORD": "one", "GRAFANA_PASSWORD": "two"}
    checked(tool("docker-compose"), "-f", "compose.yaml", "config", "-q", cwd=laid_out / "compose", **secrets)


def test_systemd_takes_the_units(laid_out: Path) -> None:
    units = laid_out / "systemd"
    for unit in units.glob("*.service"):
        # It looks for the program, which is not installed here.
        unit.write_text(unit.read_text().replace("/opt/countersign/.venv/bin/countersign", "/bin/true"))
    names = sorted(path.name for path in units.iterdir())
    assert names == ["countersign-backup.service", "countersign-backup.timer", "countersign.service"]

    checked(tool("systemd-analyze"), "verify", *(f"./{name}" for name in names), cwd=units)


def manifests() -> Iterator[dict[str, Any]]:
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def test_kubernetes_takes_the_manifests() -> None:
    validate = pytest.importorskip(
        "kubernetes_validate", reason="deploy/: kubernetes-validate is not installed"
    )
    for manifest in manifests():
        validate.validate(manifest, "1.31", strict=True)


def deployments() -> dict[str, dict[str, Any]]:
    return {m["metadata"]["labels"]["role"]: m for m in manifests() if m["kind"] == "Deployment"}


def test_each_role_is_deployed_twice_with_probes_and_is_not_taken_down_as_a_whole() -> None:
    budgets = {m["metadata"]["name"]: m["spec"] for m in manifests() if m["kind"] == "PodDisruptionBudget"}

    assert deployments().keys() == {"web", "worker", "slack"}
    for role, deployment in deployments().items():
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert deployment["spec"]["replicas"] >= 2
        assert budgets[f"countersign-{role}"]["minAvailable"] == 1
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container["args"][-2:] == ["--roles", role]
        assert pod["terminationGracePeriodSeconds"] > SHUTDOWN_S
        assert container["securityContext"]["readOnlyRootFilesystem"]


def test_the_parts_of_an_end_fit_into_it_and_the_pages_say_how_long_they_are() -> None:
    """One after the other: locks are given back, the web server ends, what an ack began; calls; the last anchor."""
    assert entrances.DRAIN_S < app.DRAIN_S < app.LAST_ANCHOR_BY_S < SHUTDOWN_S < 10
    for page in ("runbook", "deploy"):
        said = " ".join((ROOT / "docs" / f"{page}.md").read_text().split())
        assert f"up to {app.DRAIN_S:g} seconds for calls that are under way" in said
        assert re.search(rf"\b{app.LAST_ANCHOR_BY_S:g} seconds (have passed|after the signal)", said)


async def test_the_readiness_probes_ask_for_checks_there_are() -> None:
    known = set(re.findall(r'^        "(\w+)": ', inspect.getsource(entrances._checks), re.MULTILINE))
    for deployment in deployments().values():
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        path, _, only = container["readinessProbe"]["httpGet"]["path"].partition("?only=")
        assert path == "/readyz"
        assert set(only.split(",")) <= known


def test_an_outage_of_slack_or_of_the_card_provider_leaves_the_web_pods_in_service() -> None:
    """They take the card provider's events: the key counts as unknown where the start did not reach it."""
    (container,) = deployments()["web"]["spec"]["template"]["spec"]["containers"]

    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz?only=database"


def public_paths() -> set[str]:
    """What the outside has to reach of the web server: events, and the pages that browsers open."""

    async def nobody(*_: Any) -> Any:
        raise NotImplementedError

    page: dict[str, Any] = {"open_link": nobody, "nonce": str, "https": True}
    more = [
        partial(details.add_to, origins=(), **page),
        partial(passkey_page.add_to, finish=nobody, **page),
    ]
    app = web.build({}, receive=nobody, more=more)
    paths = {resource.canonical for resource in app.router.resources()}
    return {path.replace("{program}", "main") for path in paths} - {"/healthz", "/readyz"}


def test_what_is_before_the_web_server_lets_through_what_the_outside_has_to_reach_and_no_more() -> None:
    (ingress,) = [m for m in manifests() if m["kind"] == "Ingress"]
    rules = ingress["spec"]["rules"][0]["http"]["paths"]
    exact = {rule["path"] for rule in rules if rule["pathType"] == "Exact"}
    prefixes = tuple(rule["path"] for rule in rules if rule["pathType"] == "Prefix")
    (named,) = re.findall(r"@countersign path (.+)", (ROOT / "docs" / "install.md").read_text())
    matchers = named.split()

    assert len(public_paths()) > 3
    # By which `countersign doctor` sees that the address leads to Countersign.
    for path in public_paths() | {"/healthz"}:
        assert path in exact or path.startswith(prefixes), f"{path}: deploy/kubernetes/web.yaml"
        assert any(fnmatch(path, matcher) for matcher in matchers), f"{path}: docs/install.md"
    assert not [path for path in ("/readyz", "/metrics") if path in exact or path.startswith(prefixes)]
    assert not [path for path in ("/readyz", "/metrics") if any(fnmatch(path, one) for one in matchers)]


def test_every_setting_that_is_deployed_is_one() -> None:
    """What is misspelt keeps the bot from starting."""
    compose = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
    named = {name for m in manifests() for name in (m.get("data") or {})} | {
        name for m in manifests() for name in (m.get("stringData") or {})
    }
    named |= set(compose["x-countersign"]["environment"])
    known = {field.alias for field in Settings.model_fields.values()}

    assert {name for name in named if name.isupper()} - known == {"PGPASSWORD"}


def composed() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
    return found


def deployed_commands() -> Iterator[tuple[str, list[str]]]:
    """What each file has Countersign do, as words of the command line."""
    for manifest in manifests():
        containers = manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
        yield from ((manifest["metadata"]["name"], one["args"]) for one in containers if "args" in one)
    for name, service in composed()["services"].items():
        if service.get("image") == "countersign":
            yield name, service["command"]
    for unit in (DEPLOY / "systemd").glob("*.service"):
        text = re.sub(r"\$\(.+?\)", "DATE", unit.read_text())
        for line in re.findall(r"/bin/countersign ([^'\n]+)", text):
            yield unit.name, line.split()


def test_the_commands_that_are_deployed_can_be_run() -> None:
    program = get_command(cli.app)
    assert isinstance(program, TyperGroup)
    deployed = list(deployed_commands())
    assert len(deployed) >= 9
    for where, (name, *options) in deployed:
        assert name in program.commands, where
        program.commands[name].make_context(name, options)  # raises what its user would read


def test_the_roles_that_are_deployed_can_be_run_and_are_all_there_are() -> None:
    named = [words[words.index("--roles") + 1] for _, words in deployed_commands() if "--roles" in words]

    assert len(named) == 3
    assert frozenset().union(*map(process_roles.parse, named)) == process_roles.ALL


def test_what_a_container_keeps_is_a_folder_of_its_user() -> None:
    """A new volume takes over whose folder it is from the image, and is root's where the image has none."""
    made = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    (folders,) = re.findall(r"install -d -o countersign -g countersign -m 0700 (.+)", made)
    kept = [
        volume.split(":")[1]
        for volume in composed()["x-countersign"]["volumes"]
        if not volume.startswith((".", "/"))
    ]

    assert kept
    assert set(kept) <= set(folders.split())
    file = Path(composed()["x-countersign"]["environment"]["COUNTERSIGN_ANCHORS_FILE"])
    assert str(file.parent) in kept


def test_systemd_lets_the_anchors_be_written_where_the_docs_put_them() -> None:
    (writable,) = re.findall(
        r"^ReadWritePaths=(.+)$", (DEPLOY / "systemd" / "countersign.service").read_text(), re.MULTILINE
    )
    (file,) = re.findall(r"COUNTERSIGN_ANCHORS_FILE=(/\S+?)`", (ROOT / "docs" / "install.md").read_text())

    # The minus: whoever keeps anchors elsewhere does not have the folder.
    assert f"-{Path(file).parent}" in writable.split()


def test_systemd_starts_it_again_without_end_unless_it_cannot_be_run_as_it_is_set_up() -> None:
    """A full disk, or a database that is away, may last longer than any number of tries."""
    unit = (DEPLOY / "systemd" / "countersign.service").read_text()
    settings = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))

    assert settings["StartLimitIntervalSec"] == "0"
    assert settings["Restart"] == "on-failure"
    for_good = {ExitCode.UNUSABLE, ExitCode.WRONG_MASTER_KEY}
    assert {int(code) for code in settings["RestartPreventExitStatus"].split()} == for_good


def test_whatever_starts_it_again_after_a_refusal_for_good_is_named_beside_the_exit_codes_with_how_often() -> (
    None
):
    """Only systemd tells exit codes apart; what does not may not be promised to stay down."""
    page = (ROOT / "docs" / "deploy.md").read_text()
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in re.findall(r"^\|.+\|$", page, re.MULTILINE)
    ]
    head = next(row for row in rows if row[0] == "exit code")
    (for_good,) = [row for row in rows if row[0] == "2"]
    says = dict(zip(head, for_good, strict=True))
    assert "stays down" in says["with the systemd unit"]

    composed_ones = [ROOT / "compose.yaml", DEPLOY / "compose" / "compose.yaml"]
    services = [
        one for file in composed_ones for one in yaml.safe_load(file.read_text())["services"].values()
    ]
    restarts = {one["restart"] for one in services if "restart" in one} - {"no"}
    pods = [
        one["spec"]["template"]["spec"]
        for file in (DEPLOY / "kubernetes").glob("*.yaml")
        for one in yaml.safe_load_all(file.read_text())
        if one["kind"] == "Deployment"
    ]
    assert restarts == {"unless-stopped"}
    assert {pod.get("restartPolicy", "Always") for pod in pods} == {"Always"}
    assert "started again and again" in says["with Compose and Kubernetes"]
    for words in (*restarts, "CrashLoopBackOff", "docker compose stop", "kubectl scale --replicas=0"):
        assert words in page


def _upgrades_with_compose() -> list[str]:
    blocks = re.findall(r"```sh\n(.+?)```", (ROOT / "docs" / "install.md").read_text(), re.DOTALL)
    return [block for block in blocks if "git pull" in block and "docker compose" in block]


def test_an_upgrade_with_compose_stops_all_that_run_before_a_newer_version_starts() -> None:
    """No older version works beside a newer one."""
    of_one = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for services, block in zip((of_one, composed()["services"]), _upgrades_with_compose(), strict=True):
        run = {
            name
            for name, one in services.items()
            if one.get("image") == "countersign" and one.get("command", ["run"])[0] == "run"
        }
        before, _, after = block.partition(" up --detach")
        assert set(before.partition(" stop ")[2].split("\n")[0].split()) == run
        assert before.index(" build\n") < before.index(" stop ")
        assert after


def test_backups_older_than_the_days_to_keep_are_removed_and_nothing_else(tmp_path: Path) -> None:
    unit = (DEPLOY / "systemd" / "countersign-backup.service").read_text()
    (days,) = re.findall(r"^Environment=KEEP_DAYS=(\d+)$", unit, re.MULTILINE)
    (line,) = re.findall(r"^ExecStartPost=(.+)$", unit, re.MULTILINE)
    old, new = "2026-01-01-0215.db", "2026-03-02-0215.db"
    for name, age_days in ((old, int(days) + 2), (new, int(days) - 1), ("before-upgrade.db", 1000)):
        (tmp_path / name).write_text("")
        made_at = time.time() - age_days * 86_400
        os.utime(tmp_path / name, (made_at, made_at))
    assert "/var/backups/countersign" in line

    words = [word.replace("${KEEP_DAYS}", days) for word in shlex.split(line)]
    checked(*(word.replace("/var/backups/countersign", str(tmp_path)) for word in words), cwd=tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == {new, "before-upgrade.db"}


def test_each_way_to_run_it_stores_the_api_key_before_it_starts() -> None:
    """Without a key no process starts."""
    page = (ROOT / "docs" / "install.md").read_text()
    ways = {
        "With Docker Compose": "docker compose up",
        "With Kubernetes": "kubectl apply --filename web.yaml",
    }
    for title, starts in ways.items():
        section = page.split(f"\n### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
        before, found, _ = section.partition(starts)
        assert found, title
        assert " keys set main --url " in before, title


def test_the_pod_in_which_the_api_key_is_stored_has_what_the_others_have_and_gets_no_traffic() -> None:
    (pod,) = [manifest for manifest in manifests() if manifest["kind"] == "Pod"]
    (worker,) = [m for m in manifests() if m["kind"] == "Deployment" and "worker" in m["metadata"]["name"]]
    mine, theirs = pod["spec"], worker["spec"]["template"]["spec"]

    assert (
        f"kubectl exec -it --namespace countersign {pod['metadata']['name']} -- "
        in (ROOT / "docs" / "install.md").read_text()
    )
    assert "labels" not in pod["metadata"]
    assert (mine["volumes"], mine["securityContext"]) == (theirs["volumes"], theirs["securityContext"])
    for same in ("image", "envFrom", "volumeMounts", "securityContext"):
        assert mine["containers"][0][same] == theirs["containers"][0][same]


def test_prometheus_in_the_cluster_reads_every_pod_that_is_deployed(laid_out: Path) -> None:
    file = laid_out / "prometheus" / "kubernetes.yml"
    config = yaml.safe_load(file.read_text())
    (job,) = config["scrape_configs"]
    # Debian's promtool is built without Kubernetes, so it checks all but the search for Pods.
    search = job.pop("kubernetes_sd_configs")
    file.write_text(yaml.safe_dump(config))
    checked(tool("promtool"), "check", "config", file, cwd=laid_out)
    (kept,) = [rule for rule in job["relabel_configs"] if rule.get("action") == "keep"]

    assert job["job_name"] == "countersign"
    assert search == [{"role": "pod", "namespaces": {"names": ["countersign"]}}]
    for manifest in manifests():
        if manifest["kind"] == "Deployment":
            template = manifest["spec"]["template"]
            (container,) = template["spec"]["containers"]
            assert manifest["metadata"]["namespace"] == "countersign"
            assert any(
                f"{template['metadata']['labels']['app']};{port['name']}" == kept["regex"]
                for port in container["ports"]
            )
