"""`countersign doctor` says what is well and what to fix, as a real command beside the real surroundings."""

import asyncio
import json
import os
import re
import shutil
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest

from bot import web
from bot.cli.doctor import Level, examine, machine_checks, partner_checks
from bot.cli.doctor.findings import Finding
from bot.domain.time import SystemClock
from sandbox.partner.server import Running as Partner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from tests.support.databases import damage, migrated_file
from tests.support.disks import fill

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]
LEVELS = [level.name.lower() for level in Level]
NOBODY_THERE = "http://127.0.0.1:1"
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="


class Patient:
    """Surroundings and the environment of a bot that is well."""

    def __init__(self, slack: Slack, partner: Partner, folder: Path) -> None:
        self.slack, self.partner = slack, partner
        (folder / "countersign.toml").write_bytes((ROOT / "countersign.toml").read_bytes())
        self.env = {
            "PATH": os.environ["PATH"],
            "SLACK_API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "COUNTERSIGN_CONFIG": str(folder / "countersign.toml"),
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{folder / 'bot.db'}",
            "COUNTERSIGN_MASTER_KEYS": MASTER,
            "COUNTERSIGN_PARTNER_URL": partner.base_url,
            "COUNTERSIGN_PARTNER_KEY": partner.key,
            "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{free_port()}",
        }

    def change_file(self, old: str, new: str) -> None:
        """Write something else into countersign.toml."""
        toml = Path(self.env["COUNTERSIGN_CONFIG"])
        assert old in toml.read_text()
        toml.write_text(toml.read_text().replace(old, new))

    async def in_slack(self, call: str, body: dict[str, object]) -> None:
        """Change the workspace, as the people in it would."""
        async with httpx.AsyncClient(base_url=self.slack.url, trust_env=False) as page:
            (await page.post(f"/_control/{call}", json=body)).raise_for_status()

    async def register_webhook(self, url: str) -> None:
        """As the bot does it after two people agreed."""
        headers = {"Authorization": f"Bearer {self.partner.key}"}
        async with httpx.AsyncClient(base_url=self.partner.base_url, headers=headers, trust_env=False) as api:
            (await api.put("webhook", json={"url": url})).raise_for_status()

    async def findings(self) -> dict[str, list[str]]:
        """What the command would print, by level."""
        with patch.dict(os.environ, self.env, clear=True):
            found = [finding async for finding in examine()]
        return {level: [one.text for one in found if one.level.name.lower() == level] for level in LEVELS}

    def rename_channel(self, name: str, other: str) -> None:
        """Name another channel in countersign.toml."""
        toml = Path(self.env["COUNTERSIGN_CONFIG"])
        toml.write_text(toml.read_text().replace(name, other))

    def move_to(self, folder: Path) -> Path:
        """Have the database and countersign.toml in a folder of their own; the new path of the database."""
        config = Path(self.env["COUNTERSIGN_CONFIG"])
        self.env["COUNTERSIGN_CONFIG"] = str(shutil.copy(config, folder))
        for path in config.parent.glob("bot.db*"):
            shutil.copy(path, folder)
        self.env["COUNTERSIGN_DATABASE_URL"] = f"sqlite:///{folder / 'bot.db'}"
        return folder / "bot.db"

    async def examined(self, *options: str, **env: str) -> tuple[int, str]:
        """Exit code and output of the doctor."""
        return await self._ended(("doctor", *options), env)

    async def ran(self, *words: str) -> tuple[int, str]:
        """The same of any command, by somebody who may not write what is read-only."""
        return await self._ended(words, {}, by=WITHOUT_PRIVILEGE if os.geteuid() == 0 else ())

    async def _ended(
        self, words: Sequence[str], env: dict[str, str], *, by: Sequence[str] = ()
    ) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *by, sys.executable, "-m", "bot", *words, env={**self.env, **env}, cwd=ROOT,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode()


@pytest.fixture
async def patient(tmp_path: Path) -> AsyncIterator[Patient]:
    slack = await serve_slack(port=0, manifest_path=ROOT / "manifest.yml")
    partner = await serve_partner(port=0, demo=True)
    found = Patient(slack, partner, tmp_path)
    await migrated_file(tmp_path / "bot.db")
    yield found
    await partner.close()
    await found.slack.close()


async def test_everything_well_ends_with_0_and_names_what_was_tried(patient: Patient) -> None:
    code, output = await patient.examined()

    assert code == 0, output
    for said in (
        "takes the bot token",
        "app token",
        "#card-approvals is there",
        "policy can be met",
        "audit chain",
    ):
        assert said in output, output
    assert "✗" not in output
    assert patient.partner.key not in output
    assert patient.slack.bot_token not in output


async def test_rows_that_somebody_wrote_are_named(patient: Patient) -> None:
    assert any("Every row can be read" in text for text in (await patient.findings())["well"])
    path = patient.env["COUNTERSIGN_DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO pause (program, by, by_name, reason, since)"
            " VALUES ('main', 'U0EVE', 'Eve', 'x', '2026-01-01T00:00:00.000000Z')"
        )
        database.execute("INSERT INTO cursor VALUES ('main', 'events', '1', 'no time')")

    found = await patient.findings()

    wrong = " ".join(found["wrong"])
    assert "what nothing can read" in wrong
    assert "of cursor in its column updated_at" in wrong
    assert "not as Countersign left it: pause main: it was edited, invented, deleted or put back" in wrong
    assert not any("Every row can be read" in text for text in found["well"])


async def test_each_wrong_thing_is_named_with_its_fix(patient: Patient) -> None:
    async with httpx.AsyncClient(base_url=patient.partner.url, trust_env=False) as control:
        narrow = await control.post(
            "/_control/keys", json={"scopes": ["users:read", "cards:read", "deposits:write"]}
        )
    patient.rename_channel("#card-alerts", "#no-such-channel")

    code, output = await patient.examined(
        COUNTERSIGN_PARTNER_KEY=narrow.json()["key"],
        COUNTERSIGN_PUBLIC_URL="https://countersign.example.com",
        SLACK_APP_TOKEN="xapp-wrong",
    )

    assert code == 1
    for said in (
        "does not show #no-such-channel",
        "SLACK_APP_TOKEN",
        "lacks cards:write, users:write",
        "lacks cards:pan, so `/card reveal` is refused",
        "has more scopes than it needs (deposits:write)",
    ):
        assert said in output, output


async def test_what_slack_refuses_is_said_with_its_fix_and_never_with_another_look(patient: Patient) -> None:
    """A bot that is not in its channel, an archived channel, an outage of the API, then a revoked token."""
    page = httpx.AsyncClient(base_url=patient.slack.url, trust_env=False)
    api = httpx.AsyncClient(base_url=patient.partner.url, trust_env=False)
    async with page, api:
        await page.post("/_control/channels", json={"id": "C0APPROVALS", "members": ["U0BOB"]})
        await page.post("/_control/channels", json={"id": "C0ALERTS", "archived": True})
        fault = {
            "operation": "GET /me",
            "effect": "status",
            "status": 503,
            "code": "UNAVAILABLE",
            "times": 99,
        }
        await api.post("/_control/faults", json=fault)
        code, output = await patient.examined()
        await page.post("/_control/faults", json={"effect": "error", "error": "token_revoked", "times": 99})
        later, revoked = await patient.examined()

    assert (code, later) == (1, 1)
    for said in (
        "✗ Countersign is not in #card-approvals (not_in_channel). Invite it there with /invite @Countersign.",
        "✗ #card-alerts is archived (is_archived). Unarchive it.",
        "The address and the key may be right. Wait a few minutes",
    ):
        assert said in output, output
    assert "✗ Slack does not accept SLACK_BOT_TOKEN (token_revoked)." in revoked
    assert "Try again" not in revoked
    for found in (output, revoked):
        assert "countersign doctor" not in found


async def test_a_setting_that_is_missing_is_the_only_finding(patient: Patient) -> None:
    code, output = await patient.examined(SLACK_BOT_TOKEN="")

    assert code == 1
    assert "SLACK_BOT_TOKEN is needed" in output
    assert "channel" not in output


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, how to make it so, and what the doctor has to say of it: the thing, then its fix."""

    names: str
    fix: str
    make: Callable[[Patient], Awaitable[None] | None]


def env(**changes: str) -> Callable[[Patient], None]:
    return lambda patient: patient.env.update(changes)


def file(old: str, new: str) -> Callable[[Patient], None]:
    return lambda patient: patient.change_file(old, new)


def slack(call: str, **body: object) -> Callable[[Patient], Awaitable[None]]:
    return lambda patient: patient.in_slack(call, body)


def http_mode(secret: str, public_url: str) -> Callable[[Patient], None]:
    return env(SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET=secret, COUNTERSIGN_PUBLIC_URL=public_url)


async def webhook_elsewhere(patient: Patient) -> None:
    patient.env["COUNTERSIGN_PUBLIC_URL"] = NOBODY_THERE
    await patient.register_webhook("https://old.example.com/webhooks/main")


def database_in_proc(patient: Patient) -> None:
    patient.env["COUNTERSIGN_DATABASE_URL"] = "sqlite:////proc/countersign.db"


def database_of_an_older_version(patient: Patient) -> None:
    path = patient.env["COUNTERSIGN_DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM alembic_version")


def database_of_a_newer_version(patient: Patient) -> None:
    path = patient.env["COUNTERSIGN_DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'f00d'")


def damaged_database(patient: Patient) -> None:
    damage(Path(patient.env["COUNTERSIGN_DATABASE_URL"].removeprefix("sqlite:///")))


async def narrow_manifest(patient: Patient) -> None:
    """The stand-in installs the app again, from a manifest that lacks two scopes."""
    await patient.slack.close()
    text = (ROOT / "manifest.yml").read_text()
    path = Path(patient.env["COUNTERSIGN_CONFIG"]).with_name("narrow.yml")
    path.write_text(text.replace("      - app_mentions:read\n", "").replace("      - files:write\n", ""))
    patient.slack = await serve_slack(port=0, manifest_path=path)
    patient.env["SLACK_API_URL"] = patient.slack.api_url


async def empty_group(patient: Patient) -> None:
    patient.change_file("admins = []", 'admins = ["@card-admins"]')
    await patient.in_slack("groups", {"handle": "card-admins", "users": []})


def asks_for_passkeys(patient: Patient) -> None:
    path = Path(patient.env["COUNTERSIGN_CONFIG"])
    path.write_text(path.read_text() + "\n[policy.card_3ds]\npasskey = true\n")


def passkeys_at(address: str) -> Callable[[Patient], None]:
    def make(patient: Patient) -> None:
        asks_for_passkeys(patient)
        patient.env["COUNTERSIGN_PUBLIC_URL"] = address

    return make


def relay_to(patient: Patient, host: str) -> None:
    destination = f'{{ name = "core-ledger", url = "https://{host}/events", events = ["card.transaction"] }}'
    patient.change_file("destinations = []", f"destinations = [{destination}]")


def key_file_that_is_missing(patient: Patient) -> None:
    del patient.env["COUNTERSIGN_MASTER_KEYS"]
    patient.env["COUNTERSIGN_MASTER_KEY_FILE"] = "/nowhere/master.key"


def key_command_that_fails(patient: Patient) -> None:
    del patient.env["COUNTERSIGN_MASTER_KEYS"]
    patient.env["COUNTERSIGN_MASTER_KEY_COMMAND"] = "false"


def slack_answers(effect: str, **fault: str) -> Callable[[Patient], Awaitable[None]]:
    return slack("faults", effect=effect, times=999, **fault)


FAULTS = {
    "a Slack that cannot be reached": Fault(
        f"Slack did not answer at {NOBODY_THERE}/api/",
        "Check the network of this machine",
        env(SLACK_API_URL=f"{NOBODY_THERE}/api/"),
    ),
    "a Slack that is asked too often": Fault(
        "Slack was asked too often", "Run this again in a minute", slack_answers("429")
    ),
    "a group on a free plan of Slack": Fault(
        "@card-approvers (people.approvers): User groups need a paid plan of Slack",
        "List member ids in countersign.toml",
        slack_answers("error", method="usergroups.list", error="paid_teams_only"),
    ),
    "an API that cannot be reached": Fault(
        f"{NOBODY_THERE}/api/partner/v1 cannot be reached. ",
        "Check the address, and the network of this machine.",
        env(COUNTERSIGN_PARTNER_URL=f"{NOBODY_THERE}/api/partner/v1"),
    ),
    "an address that is not the API's": Fault(
        "the answer isn't JSON. ",
        "Check the address",
        lambda patient: patient.env.update(COUNTERSIGN_PARTNER_URL=f"{patient.slack.url}/api/partner/v1"),
    ),
    "a master key file that is missing": Fault(
        "/nowhere/master.key cannot be read (No such file or directory)",
        "Correct the path, or give the file to the user that Countersign runs as.",
        key_file_that_is_missing,
    ),
    "a command for the master key that fails": Fault(
        "false ended with code 1, printing no key.",
        "Run it by hand, as the user that Countersign runs as, to see why.",
        key_command_that_fails,
    ),
    "a file for anchors that cannot be written": Fault(
        "/proc/nowhere/anchors cannot be written (No such file or directory)",
        "Make its folder, or let the user that Countersign runs as write there.",
        env(COUNTERSIGN_ANCHORS_FILE="/proc/nowhere/anchors"),
    ),
    "a folder for anchors in which no file can be made": Fault(
        "/proc/anchors cannot be written",
        "let the user that Countersign runs as write there.",
        env(COUNTERSIGN_ANCHORS_FILE="/proc/anchors"),
    ),
    "a file for anchors that is a folder": Fault(
        "/usr cannot be written (Is a directory)",
        "let the user that Countersign runs as write there.",
        env(COUNTERSIGN_ANCHORS_FILE="/usr"),
    ),
    "a command for anchors that fails": Fault(
        "false (exit code 1) cannot be read as audit anchors.",
        "Run it with read by hand",
        env(COUNTERSIGN_ANCHORS_COMMAND="false"),
    ),
    "a channel without Countersign": Fault(
        "not in #card-approvals",
        "/invite @Countersign",
        slack("channels", id="C0APPROVALS", members=["U0BOB"]),
    ),
    "a channel that does not exist": Fault(
        "does not show #no-such-channel", "Create it", file("#card-alerts", "#no-such-channel")
    ),
    "a channel id that does not exist": Fault(
        "does not show C0NOWHERE", "Create it", file("#card-alerts", "C0NOWHERE")
    ),
    "an archived channel": Fault(
        "#card-alerts is archived", "Unarchive it", slack("channels", id="C0ALERTS", archived=True)
    ),
    "a channel shared with another organization": Fault(
        "Nothing is posted in #card-alerts, as it is shared with another organization",
        "name another channel in countersign.toml, or allow it with slack.shared_ok",
        slack("channels", id="C0ALERTS", is_ext_shared=True),
    ),
    "a group that does not exist": Fault(
        "no person named @no-such-group (people.admins)",
        "Create it, or correct countersign.toml. A user group needs a paid plan of Slack; without one, list member ids",
        file("admins = []", 'admins = ["@no-such-group"]'),
    ),
    "passkeys without an address": Fault(
        "asks for passkeys (passkey = true), and there is no address",
        "Set COUNTERSIGN_PUBLIC_URL to the https address",
        asks_for_passkeys,
    ),
    "passkeys at an address without a name": Fault(
        f"{NOBODY_THERE} has no host name",
        "with a name and not an IP address",
        passkeys_at(NOBODY_THERE),
    ),
    "a group with nobody in it": Fault(
        "@card-admins (people.admins) has nobody in it",
        "Add people to it in Slack",
        empty_group,
    ),
    "a person id that does not exist": Fault(
        "no person with the id U0NOBODY (alerts.call)",
        "Correct countersign.toml",
        file("call = []", 'call = ["U0NOBODY"]'),
    ),
    "a person who left": Fault(
        "U0GONE (people.requesters) cannot take part: This Slack account is deactivated",
        "Correct countersign.toml",
        file("requesters = []", 'requesters = ["U0ALICE", "U0GONE"]'),
    ),
    "a guest as an approver": Fault(
        "U0GUEST (people.approvers) cannot take part: Guests cannot",
        "Correct countersign.toml",
        file('approvers = ["@card-approvers"]', 'approvers = ["@card-approvers", "U0GUEST"]'),
    ),
    "too few approvers": Fault(
        "there are only 1 approver(s)",
        "Add approvers",
        slack("groups", handle="card-approvers", users=["U0BOB"]),
    ),
    "missing scopes": Fault(
        "lacks the scopes app_mentions:read, files:write. Without them these events do not arrive: app_mention",
        "install it again",
        narrow_manifest,
    ),
    "a wrong app token": Fault("SLACK_APP_TOKEN", "connections:write", env(SLACK_APP_TOKEN="xapp-wrong")),
    "a wrong bot token": Fault("SLACK_BOT_TOKEN", "restart", env(SLACK_BOT_TOKEN="xoxb-wrong")),
    "a signing secret that is none": Fault(
        "SLACK_SIGNING_SECRET is not a signing secret",
        "Copy it from Basic Information",
        http_mode("xoxb-this-is-a-token", NOBODY_THERE),
    ),
    "HTTP mode without an address": Fault(
        "HTTP mode needs COUNTERSIGN_PUBLIC_URL", "or set SLACK_APP_TOKEN", http_mode("0f" * 16, "")
    ),
    "a webhook that leads elsewhere": Fault(
        f"its events go to https://old.example.com/webhooks/main, not to {NOBODY_THERE}/webhooks/main",
        "/countersign webhook",
        webhook_elsewhere,
    ),
    "a webhook and no address of our own": Fault(
        "its events go to https://old.example.com/webhooks/main, and COUNTERSIGN_PUBLIC_URL is not set",
        "Set COUNTERSIGN_PUBLIC_URL and restart. Then type /countersign webhook in Slack",
        lambda patient: patient.register_webhook("https://old.example.com/webhooks/main"),
    ),
    "a relay into our own network": Fault(
        "core-ledger: localhost leads to",
        "Name a public host",
        lambda patient: relay_to(patient, "localhost"),
    ),
    "a folder that cannot be written": Fault(
        "/proc/countersign.db and its folder cannot be written", "Give them to the user", database_in_proc
    ),
    "a database without tables": Fault("is empty", "`countersign migrate`", database_of_an_older_version),
    "a database of a newer version": Fault(
        "was upgraded by a newer Countersign", "Start the newer version", database_of_a_newer_version
    ),
    "a damaged database": Fault("is damaged", "restore the newest backup", damaged_database),
    "an address of another machine": Fault(
        "cannot listen on 192.0.2.7:8402",
        "Set COUNTERSIGN_HTTP_BIND",
        env(COUNTERSIGN_HTTP_BIND="192.0.2.7:8402"),
    ),
    "a key that is refused": Fault(
        "Program main",
        "countersign keys set main",
        env(COUNTERSIGN_PARTNER_KEY="svc_live_00000000" + "9" * 32),
    ),
}


@pytest.mark.by_turns(5)
@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
async def test_one_fault_is_the_one_thing_that_is_wrong_and_its_fix_is_said(
    patient: Patient, fault: Fault
) -> None:
    made = fault.make(patient)
    if made is not None:
        await made

    found = await patient.findings()

    (said,) = found["wrong"]
    assert fault.names in said
    assert fault.fix in said


@pytest.mark.parametrize("direction", [-1, 1], ids=["behind", "ahead"])
def test_a_clock_that_is_more_than_a_minute_off_is_wrong(direction: int) -> None:
    now = SystemClock().now()

    far = machine_checks.clock("Slack", now + direction * timedelta(seconds=70))
    near = machine_checks.clock("Slack", now + direction * timedelta(seconds=50))

    assert (far.level, near.level) == (Level.WRONG, Level.WELL)
    assert "Set it right" in far.text


async def test_how_many_people_have_a_passkey_is_shown_where_the_policy_asks_for_it(patient: Patient) -> None:
    passkeys_at(NOBODY_THERE.replace("127.0.0.1", "localhost"))(patient)

    found = await patient.findings()

    assert found["wrong"] == []
    assert any(
        text.startswith("Nobody has a passkey that works, and a request may take 1 approval")
        for text in found["to_check"]
    )
    assert "Passkeys work in browsers, at localhost." in found["well"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def listening(port: int) -> Iterator[None]:
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
        held.listen()
        yield


WITHOUT_PRIVILEGE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""How a command is started where this process is root, for whom nothing would be read-only otherwise."""


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder for the database and the policy file alone."""
    made = tmp_path / "shelf"
    made.mkdir()
    return made


def for_reading_only(path: Path) -> None:
    """Let nobody write this folder, or what is in it."""
    for one in (path, *path.rglob("*")):
        one.chmod(0o555 if one.is_dir() else 0o444)


def dumped(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


async def test_a_database_in_which_nothing_can_be_stored_now_is_wrong_and_is_left_as_it_is(
    patient: Patient, small_disk: Path
) -> None:
    """Each time with the words of /readyz."""
    database = patient.move_to(small_disk)
    before = dumped(database)

    fill(small_disk / "filler")
    os.truncate(small_disk / "filler", (small_disk / "filler").stat().st_size - 200_000)
    (full,) = (await patient.findings())["wrong"]
    assert f"The disk of {database} is full" in full
    (small_disk / "filler").unlink()

    with closing(sqlite3.connect(database)) as other:
        other.execute("BEGIN IMMEDIATE")
        (locked,) = (await patient.findings())["wrong"]
        other.rollback()
    assert "Another process holds the write lock" in locked

    found = await patient.findings()
    assert found["wrong"] == []
    assert "The database can be written, and its disk has room." in found["well"]
    assert dumped(database) == before


@pytest.mark.walk("what")
@pytest.mark.parametrize("what", ["the file", "its folder"])
@pytest.mark.parametrize("command", [("run",), ("run", "--no-migrate"), ("doctor",)])
async def test_a_database_that_cannot_be_written_is_called_that_by_the_start_and_the_doctor(
    patient: Patient, shelf: Path, command: tuple[str, ...], what: str
) -> None:
    database = patient.move_to(shelf)
    if what == "the file":
        database.parent.chmod(0o777)
        for path in database.parent.glob("bot.db*"):
            path.chmod(0o444)
    else:
        for_reading_only(database.parent)

    try:
        code, output = await patient.ran(*command)
    finally:
        database.parent.chmod(0o755)

    assert code == (1 if command == ("doctor",) else 2), output
    assert f"{database} " in output
    assert "cannot be written" in output
    assert re.search("Give (them|it and its folder) to the user that Countersign runs as", output)
    assert "Traceback" not in output


@pytest.mark.walk(most=1)
@pytest.mark.parametrize("command", [("run",), ("migrate",)])
async def test_a_folder_in_which_no_database_can_be_made_is_called_that(
    patient: Patient, shelf: Path, command: tuple[str, ...]
) -> None:
    patient.move_to(shelf)
    patient.env["COUNTERSIGN_DATABASE_URL"] = "sqlite:////proc/countersign/bot.db"

    code, output = await patient.ran(*command)

    assert code == 2, output
    assert "/proc/countersign/bot.db and its folder cannot be written" in output
    assert "Traceback" not in output


def lock_of_another_user(database: Path) -> Path:
    database.parent.chmod(0o777)
    database.chmod(0o666)
    lock = database.with_name(database.name + ".lock")
    lock.touch()
    lock.chmod(0o444)
    return lock


@pytest.mark.walk(most=1)
@pytest.mark.parametrize("command", [("run",), ("doctor",), ("keys", "remove", "main")])
async def test_a_lock_file_that_belongs_to_another_user_is_called_that(
    patient: Patient, shelf: Path, command: tuple[str, ...]
) -> None:
    """Such as one that root made by running a command before the service had a user of its own."""
    other = lock_of_another_user(patient.move_to(shelf))

    code, output = await patient.ran(*command)

    assert code == (1 if command == ("doctor",) else 2), output
    assert (
        f"{other} cannot be written (Permission denied). Give it to the user that Countersign runs as"
        in output
    )
    assert "Traceback" not in output


async def test_a_relay_to_a_name_that_does_not_resolve_is_wrong(patient: Patient) -> None:
    relay_to(patient, "hooks.invalid")  # a name that no resolver knows [RFC 6761]

    code, output = await patient.examined()

    assert code == 1
    assert (
        "✗ The relay's destination core-ledger: the name hooks.invalid does not resolve. Correct it" in output
    )


async def test_a_port_held_by_the_running_bot_is_to_check_and_one_held_by_another_is_wrong(
    patient: Patient,
) -> None:
    port = int(patient.env["COUNTERSIGN_HTTP_BIND"].rpartition(":")[2])

    server = await web.serve(web.build({}), host="127.0.0.1", port=port)
    ours = await patient.findings()
    await server.stop()
    with listening(port):
        other = await patient.findings()

    assert ours["wrong"] == []
    assert any(f"127.0.0.1:{port} is held by a Countersign that runs" in text for text in ours["to_check"])
    (said,) = other["wrong"]
    assert f"127.0.0.1:{port} is used by another program. End that one, or choose" in said


async def test_the_doctor_tries_the_places_of_anchors_and_leaves_nothing_there(
    patient: Patient, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    patient.env |= {"COUNTERSIGN_ANCHORS_FILE": f"{kept}/anchors", "COUNTERSIGN_ANCHORS_COMMAND": "true"}

    found = await patient.findings()

    assert found["wrong"] == []
    assert "Audit anchors are kept in two places apart." in found["well"]
    assert list(kept.iterdir()) == []


async def test_that_no_anchors_are_kept_is_wrong_where_real_money_moves(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody_is_called(*_: object) -> AsyncIterator[Finding]:
        none: tuple[Finding, ...] = ()
        for finding in none:
            yield finding

    monkeypatch.setattr(partner_checks, "_partner", nobody_is_called)
    patient.env |= {
        "COUNTERSIGN_PARTNER_URL": "https://cards.invalid/api/partner/v1",
        "COUNTERSIGN_PARTNER_KEY": "svc_live_" + "9sK2mQ7x" * 4,
    }
    none = await patient.findings()
    patient.env["COUNTERSIGN_ANCHORS_FILE"] = f"{tmp_path}/anchors"
    one = await patient.findings()

    assert any("kept in no place apart from the database" in text for text in none["wrong"]), none
    assert not any("apart from the database" in text for text in one["wrong"])
    assert any("kept in one place apart from the database" in text for text in one["to_check"])


async def test_what_only_has_to_be_checked_is_no_fault(patient: Patient) -> None:
    patient.env["COUNTERSIGN_PUBLIC_URL"] = f"http://127.0.0.1:{free_port()}"

    found = await patient.findings()

    assert found["wrong"] == []
    for said in (
        "does not answer as Countersign",
        "kept in no place apart from the database",
        "no webhook yet",
    ):
        assert any(said in text for text in found["to_check"]), said


async def test_a_shared_channel_that_the_file_allows_is_no_fault_and_is_said(patient: Patient) -> None:
    patient.change_file("shared_ok = []", 'shared_ok = ["#card-alerts"]')
    await patient.in_slack("channels", {"id": "C0ALERTS", "is_ext_shared": True})

    allowed = await patient.findings()
    await patient.in_slack("channels", {"id": "C0APPROVALS", "is_ext_shared": True})
    other = await patient.findings()

    assert allowed["wrong"] == []
    (said,) = [text for text in allowed["to_check"] if "#card-alerts" in text]
    assert "shared with another organization, as slack.shared_ok allows" in said
    (wrong,) = other["wrong"]
    assert "Nothing is posted in #card-approvals, as it is shared with another organization" in wrong


async def test_a_script_reads_the_same_findings_with_their_levels(patient: Patient) -> None:
    whole, before = await patient.examined("--json")
    await patient.in_slack("channels", {"id": "C0ALERTS", "archived": True})
    broken, after = await patient.examined("--json")

    assert (whole, broken) == (0, 1)
    assert json.loads(before)["wrong"] == 0
    report = json.loads(after)
    (finding,) = [one for one in report["findings"] if one["level"] == "wrong"]
    assert (report["wrong"], finding["check"]) == (1, "channel")
    assert report["to_check"] == sum(one["level"] == "to_check" for one in report["findings"])
    assert "#card-alerts is archived" in finding["text"]


async def test_the_last_line_counts_what_was_found(patient: Patient) -> None:
    _, output = await patient.examined()

    *lines, _, last = output.splitlines()
    counts = [sum(line.startswith(sign) for line in lines) for sign in "✗!✓"]
    assert last == "{} wrong, {} to check, {} well.".format(*counts)
