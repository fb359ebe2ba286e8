"""The `countersign` command as a person uses it: exit codes, sentences, no traceback, no secret shown."""

import asyncio
import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from storage.migrate import migrate
from tests.support.databases import damage

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]
SANDBOX_KEY = "svc_live_00000000" + "5f" * 16
PARTNER_URL = "http://127.0.0.1:1/api/partner/v1"


class Terminal:
    """Runs commands in a folder of their own, with an environment of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{folder}/c.db",
            "COUNTERSIGN_MASTER_KEY_FILE": str(folder / "master.key"),
        }

    def run(self, *words: str, given: str = "", code: int = 0, **env: str) -> str:
        """Standard output, or standard error when the command is expected to fail."""
        done = self._ended(words, given, code, env)
        return done.stderr if code else done.stdout

    def reported(self, *words: str, code: int = 0, **env: str) -> dict[str, Any]:
        """The one JSON object on standard output, however the command ends."""
        report: dict[str, Any] = json.loads(self._ended((*words, "--json"), "", code, env).stdout)
        return report

    def _ended(
        self, words: Sequence[str], given: str, code: int, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "bot", *words],
            cwd=self.folder,
            env={name: value for name, value in {**self.env, **env}.items() if value},
            input=given,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def new_master(self, name: str = "master.key") -> str:
        line = self.run("keys", "new-master").strip()
        path = self.folder / name
        path.write_text(line + "\n")
        path.chmod(0o600)
        return line

    def sql(self, statement: str) -> None:
        with sqlite3.connect(self.folder / "c.db") as connection:
            connection.executescript(statement)

    def insert_some_request(self, program: str) -> None:
        """A row of which only the program counts."""
        with sqlite3.connect(self.folder / "c.db") as connection:
            connection.execute("PRAGMA ignore_check_constraints=ON")
            columns = [row[1] for row in connection.execute("PRAGMA table_info(request)") if row[3] or row[5]]
            values = [program if name == "program" else "1" for name in columns]
            marks = ",".join("?" * len(columns))
            connection.execute(f"INSERT INTO request ({','.join(columns)}) VALUES ({marks})", values)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a master key, a database and one program, made once."""
    terminal = Terminal(tmp_path_factory.mktemp("template"))
    terminal.new_master()
    terminal.run("migrate")
    terminal.run("keys", "set", "main", "--url", PARTNER_URL, given=SANDBOX_KEY + "\n")
    return terminal.folder


@pytest.fixture
def ready(terminal: Terminal, template: Path) -> Terminal:
    """With a master key, a database and one program."""
    shutil.copytree(template, terminal.folder, dirs_exist_ok=True)
    return terminal


def test_a_new_master_key_is_32_random_bytes(terminal: Terminal) -> None:
    first, second = terminal.new_master(), terminal.new_master("other.key")

    assert len(base64.b64decode(first)) == 32
    assert first != second


def test_a_partner_key_is_read_from_standard_input_sealed_and_never_shown(ready: Terminal) -> None:
    listed = ready.run("keys", "list")

    assert "main  svc_live_00000000…  version 1" in listed
    assert SANDBOX_KEY not in listed
    stored = b"".join(path.read_bytes() for path in ready.folder.glob("c.db*"))
    assert b"svc_live_00000000" in stored  # the control: the beginning is kept in plain
    assert SANDBOX_KEY.encode() not in stored


def test_a_second_key_needs_no_address_and_is_a_new_version(ready: Terminal) -> None:
    said = ready.run("keys", "set", "main", given="svc_live_00000000" + "ab" * 16)

    assert "version 2" in said
    assert PARTNER_URL in said


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("words", "given", "sentence"),
    [
        (("keys", "set", "other"), SANDBOX_KEY, "give its address with --url"),
        (("keys", "set", "main", "--url", "https://api.example.com/v1"), SANDBOX_KEY, "/api/partner/v1"),
        (
            ("keys", "set", "main", "--url", "https://api.example.com/api/partner/v1"),
            SANDBOX_KEY,
            "sandbox key",
        ),
        (("keys", "set", "main", "--url", PARTNER_URL), "", "No key came"),
        (("keys", "set", "main", "--url", PARTNER_URL), "two words", "one line"),
        (("keys", "set", "Main Program"), SANDBOX_KEY, "small letters"),
        (("keys", "set"), "", "Missing argument"),
        (("frobnicate",), "", "No such command"),
        (("audit", "export", "--format", "xml"), "", "xml"),
        (("audit", "verify", "--anchors", "absent.jsonl"), "", "cannot be read"),
        (("audit", "verify", "--anchors", __file__), "", "holds no anchors"),
        (("audit", "verify", "--from", "99"), "", "There is no entry from 99 on, so nothing was checked"),
        (("audit", "verify", "--from", "5", "--to", "2"), "", "--from 5 is after --to 2"),
        (("sandbox", "--slack-port", "0", "--partner-port", "0"), "", "Both halves are switched off"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence_with_the_fix(
    ready: Terminal, words: tuple[str, ...], given: str, sentence: str
) -> None:
    said = ready.run(*words, given=given, code=2)

    assert sentence in " ".join(said.replace("│", " ").split())
    assert SANDBOX_KEY not in said


def test_settings_problems_are_all_reported_at_once(terminal: Terminal) -> None:
    said = terminal.run("run", code=2, COUNTERSIGN_MASTER_KEY_FILE="", COUNTERSIGN_CONFG="x")

    assert "COUNTERSIGN_CONFG is not a setting. Did you mean COUNTERSIGN_CONFIG?" in said
    assert "SLACK_BOT_TOKEN is needed" in said
    assert "No master key" in said


def test_commands_without_a_database_say_to_migrate(terminal: Terminal) -> None:
    terminal.new_master()

    assert "countersign migrate" in terminal.run("keys", "list", code=2)
    assert "countersign migrate" in terminal.run("audit", "verify", code=2)


def test_a_wrong_master_key_ends_with_78_and_names_the_keys(ready: Terminal) -> None:
    ready.new_master("other.key")

    said = ready.run("keys", "list", code=78, COUNTERSIGN_MASTER_KEY_FILE=str(ready.folder / "other.key"))

    assert "does not fit this database" in said
    assert "nothing was changed" not in said, "a start upgrades the tables before it tries the key"


def test_a_weak_master_key_is_refused(terminal: Terminal) -> None:
    terminal.run("migrate")
    weak = base64.b64encode(b"\0" * 32).decode()

    said = terminal.run("keys", "list", code=2, COUNTERSIGN_MASTER_KEY_FILE="", COUNTERSIGN_MASTER_KEYS=weak)

    assert "not random" in said
    assert weak not in said


def test_the_master_key_is_rotated_by_rewrap_and_checked_by_verify(ready: Terminal) -> None:
    old = (ready.folder / "master.key").read_text().strip()
    new = ready.new_master("new.key")
    (ready.folder / "master.key").write_text(f"{new}\n{old}\n")

    assert "run countersign keys rewrap" in ready.run("keys", "verify", code=1)
    assert "1 sealed value(s) moved" in ready.run("keys", "rewrap")
    assert "1 sealed value(s) under the first master key" in ready.run("keys", "verify")
    assert "0 sealed value(s) moved" in ready.run("keys", "rewrap")


def test_a_cell_that_somebody_wrote_is_named_and_keeps_no_master_key_from_being_retired(
    ready: Terminal,
) -> None:
    old = (ready.folder / "master.key").read_text().strip()
    new = ready.new_master("new.key")
    (ready.folder / "master.key").write_text(f"{new}\n{old}\n")
    with sqlite3.connect(ready.folder / "c.db") as file:
        file.execute(
            "INSERT INTO draft (id, owner, kind, program, created_at, sealed_content)"
            " VALUES ('x\n1', 'U0', 'card_topup', 'main', '2026-03-02T08:00:00.000000Z', 'v1.deadbeef0000.AAAA')"
        )
        file.execute("UPDATE keycheck SET sealed = 'junk'")
    assert "run countersign keys rewrap" in ready.run("keys", "verify", code=1)

    said = ready.run("keys", "rewrap", code=1)

    with sqlite3.connect(ready.folder / "c.db") as file:
        (moved,) = file.execute("SELECT body FROM audit WHERE action = 'keys.rewrapped'").fetchall()
        assert file.execute("SELECT count(*) FROM audit WHERE action = 'keys.retired'").fetchone() == (1,)
    assert json.loads(moved[0])["moved"] == 1
    assert "  draft.sealed_content of x 1\n" in said
    assert "keycheck.sealed of" in said
    assert "Add it" not in said
    said = ready.run("keys", "verify", code=1)
    assert "draft.sealed_content of x 1" in said
    assert "run countersign keys rewrap" not in said, "that has been done"


def test_where_the_line_of_a_retired_key_was_taken_out_the_keyring_is_what_has_to_be_put_right(
    ready: Terminal,
) -> None:
    """A backup would have the same entries, and nobody changed the database."""
    old = (ready.folder / "master.key").read_text().strip()
    new = ready.new_master("new.key")
    (ready.folder / "master.key").write_text(f"{new}\n{old}\n")
    ready.run("keys", "rewrap")
    (ready.folder / "master.key").write_text(f"{new}\n")
    (ready.folder / "countersign.toml").write_text((ROOT / "countersign.toml").read_text())
    slack = {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_SIGNING_SECRET": "0" * 32,
        "SLACK_API_URL": "http://127.0.0.1:1/api/",
    }

    findings = ready.reported("doctor", code=1, **slack)["findings"]
    said = [ready.run("audit", "verify", code=1), ready.run("run", code=2, **slack)]
    said.append(next(one["text"] for one in findings if one["check"] == "audit_chain"))

    for sentences in said:
        assert "entry 1" in sentences
        assert "is not in the keyring" in sentences
        assert "estore a backup" not in sentences
    (ready.folder / "master.key").write_text(f"{new}\n{old}\n")
    assert "whole" in ready.run("audit", "verify")


def test_the_audit_chain_is_whole_until_somebody_changes_the_database(ready: Terminal) -> None:
    assert "whole: 1 entry" in ready.run("audit", "verify")

    ready.sql("DROP TRIGGER IF EXISTS audit_no_update; UPDATE audit SET actor = 'U0MALLORY' WHERE seq = 1")

    assert "broken at entry 1 (hash)" in ready.run("audit", "verify", code=1)


def test_a_script_reads_whether_the_audit_chain_is_whole_and_where_it_is_broken(ready: Terminal) -> None:
    whole = ready.reported("audit", "verify")
    ready.sql("DROP TRIGGER IF EXISTS audit_no_update; UPDATE audit SET actor = 'U0MALLORY' WHERE seq = 1")
    broken = ready.reported("audit", "verify", code=1)

    assert whole == {"whole": True, "checked": 1, "last": 1, "first_bad": None, "kind": None}
    assert broken == {"whole": False, "checked": 0, "last": 0, "first_bad": 1, "kind": "hash"}


def test_a_script_reads_what_is_sealed_under_which_master_key(ready: Terminal) -> None:
    old = (ready.folder / "master.key").read_text().strip()
    before = ready.reported("keys", "verify")
    new = ready.new_master("new.key")
    (ready.folder / "master.key").write_text(f"{new}\n{old}\n")
    after = ready.reported("keys", "verify", code=1)

    assert before["sealed"] == {before["first_key"]: 1}
    assert after["sealed"] == before["sealed"]
    assert after["first_key"] != before["first_key"]


def test_a_script_reads_every_problem_of_a_policy_file(terminal: Terminal) -> None:
    (terminal.folder / "countersign.toml").write_text("[slack]\nx = 1\n")
    example = str(ROOT / "countersign.toml")

    valid = terminal.reported("config", "check", example)
    wrong = terminal.reported("config", "check", code=2)

    assert valid == {
        "file": example,
        "valid": True,
        "policy_version": valid["policy_version"],
        "problems": [],
    }
    assert valid["policy_version"] in terminal.run("config", "check", example)
    assert (wrong["file"], wrong["valid"], wrong["policy_version"]) == ("countersign.toml", False, None)
    assert any("slack.x is not known" in problem for problem in wrong["problems"])
    assert any("people.approvers" in problem for problem in wrong["problems"])


def test_a_database_that_is_none_is_unreadable(ready: Terminal) -> None:
    (ready.folder / "c.db").write_bytes(b"not a database at all" * 100)

    assert ready.run("audit", "verify", code=2).strip()


@pytest.mark.parametrize("command", [("audit", "verify"), ("run",), ("backup", "new.db")], ids=" ".join)
def test_a_damaged_database_is_a_sentence_and_no_service_manager_starts_again_on_it(
    ready: Terminal, command: tuple[str, ...]
) -> None:
    """As its unit says: RestartPreventExitStatus."""
    path = ready.folder / "c.db"
    damage(path)
    ready.env |= {
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "SLACK_API_URL": "http://127.0.0.1:1/api/",
    }
    ready.env["COUNTERSIGN_CONFIG"] = str(ROOT / "countersign.toml")
    said = ready.run(*command, code=2)
    assert f"{path} is damaged" in said
    assert "restore the newest backup" in said
    assert "Traceback" not in said


def test_an_export_tells_its_own_digest_and_is_audited(ready: Terminal) -> None:
    output = ready.folder / "audit.jsonl"

    ready.run("audit", "export", "--output", str(output))

    manifest = json.loads((ready.folder / "audit.jsonl.manifest.json").read_text())
    entries = [json.loads(line) for line in output.read_text().splitlines()]
    assert manifest["sha256"] == hashlib.sha256(output.read_bytes()).hexdigest()
    assert manifest["count"] == len(entries) == 1
    assert entries[0]["action"] == "key.set"
    assert entries[0]["actor"].startswith("cli:")
    again = ready.run("audit", "export", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(again)))
    assert [row["action"] for row in rows] == ["key.set", "audit.exported"]
    assert "whole: 3 entries" in ready.run("audit", "verify")


def test_config_check_shows_the_policy_or_every_problem(terminal: Terminal) -> None:
    example = str(ROOT / "countersign.toml")

    assert "2 above 500.00 USD" in terminal.run("config", "check", COUNTERSIGN_CONFIG=example)
    (terminal.folder / "countersign.toml").write_text("[slack]\nx = 1\n")
    said = terminal.run("config", "check", code=2)
    assert "slack.x is not known" in said
    assert "people.approvers" in said
    assert "cannot be read" in terminal.run("config", "check", code=2, COUNTERSIGN_CONFIG="absent.toml")


def test_config_check_takes_a_file_and_needs_no_settings_for_it(terminal: Terminal) -> None:
    example = str(ROOT / "countersign.toml")

    said = terminal.run(
        "config", "check", example, COUNTERSIGN_PARTNER_KEY="alone", COUNTERSIGN_CONFIG="absent.toml"
    )

    assert f"{example} is valid" in said
    assert "default: 1 approval;" in said
    assert "card_topup: 1 approval, 2 above 500.00 USD" in said
    assert "absent.toml cannot be read" in terminal.run("config", "check", "absent.toml", code=2)


def test_the_first_key_sets_up_an_empty_database(terminal: Terminal) -> None:
    terminal.new_master()

    said = terminal.run("keys", "set", "main", "--url", PARTNER_URL, given=SANDBOX_KEY)

    assert "is sealed (version 1)" in said
    assert "main  svc_live_00000000…" in terminal.run("keys", "list")


def test_a_database_without_tables_is_called_empty_and_not_old(terminal: Terminal) -> None:
    terminal.new_master()
    terminal.sql("PRAGMA journal_mode=WAL")

    assert "is empty. Run `countersign migrate`" in terminal.run("keys", "list", code=2)


def test_a_mistyped_program_can_be_removed_and_one_with_requests_stays(ready: Terminal) -> None:
    ready.run("keys", "set", "mian", "--url", PARTNER_URL, given=SANDBOX_KEY)

    assert "mian and its key svc_live_00000000… are removed" in ready.run("keys", "remove", "mian")

    listed = [json.loads(line) for line in ready.run("keys", "list", "--json").splitlines()]
    assert [(row["name"], row["key_version"], row["base_url"]) for row in listed] == [
        ("main", 1, PARTNER_URL)
    ]
    assert SANDBOX_KEY not in json.dumps(listed)
    assert "There is no program named mian" in ready.run("keys", "remove", "mian", code=1)
    assert "key.removed" in ready.run("audit", "export")
    ready.insert_some_request("main")
    assert "main has 1 request(s), whose record needs it" in ready.run("keys", "remove", "main", code=2)


def test_the_manifest_is_printed_as_it_is_packaged(terminal: Terminal) -> None:
    assert terminal.run("manifest") == (ROOT / "manifest.yml").read_text()


def test_every_command_says_first_what_it_does_by_a_verb() -> None:
    """Help reads as an order: Run, Check, Print."""
    verbs = {
        "Check",
        "End",
        "Export",
        "List",
        "Print",
        "Pull",
        "Put",
        "Remove",
        "Run",
        "Seal",
        "Test",
        "Upgrade",
        "Validate",
        "Write",
    }
    page = (ROOT / "docs" / "cli.md").read_text()

    first = {section.split()[0] for section in re.findall(r"^## countersign .+\n\n(.+)$", page, re.MULTILINE)}

    assert first <= verbs


def test_commands_marked_so_work_beside_a_process_that_holds_the_database(ready: Terminal) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(ready.folder / "c.db")], env=ready.env, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    with holder, holder.stdout:
        holder.stdout.readline()

        ready.run("keys", "list")
        ready.run("audit", "verify")
        ready.run("audit", "export")
        refused = ready.run("keys", "set", "main", given=SANDBOX_KEY, code=1)
        holder.terminate()

    assert "Another Countersign process" in refused


_HOLD = """
import signal, sys
from pathlib import Path
from storage.database import FileLock
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
signal.pause()
"""


def test_a_start_imports_only_what_it_needs(tmp_path: Path) -> None:
    """All of the bot, and a look at a database that is up to date: Alembic is for those that are not."""
    url = f"sqlite:///{tmp_path / 'countersign.db'}"
    asyncio.run(migrate(url))
    unneeded = (
        *("alembic", "mako", "PIL", "psycopg", "procrastinate", "typer", "sandbox"),
        "rapidfuzz",
        *("bot.intents.parser", "bot.intents.recognition", "bot.language_model", "apscheduler", "webauthn"),
    )
    probe = (
        "import asyncio, sys, bot.app\n"
        "from storage.migrate import require_current\n"
        f"asyncio.run(require_current({url!r}))\n"
        f"print([m for m in {unneeded!r} if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, timeout=30)

    assert done.stdout.strip() == "[]", done.stderr


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    heavy = ("sqlalchemy", "sqlmodel", "slack_bolt", "aiohttp", "httpx", "pydantic", "cryptography")
    probe = f"import sys, bot.cli; print([m for m in {heavy!r} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, timeout=30)

    assert done.stdout.strip() == "[]"


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e\x9b8m\nThe audit chain is whole: 9 entries checked.\u2028"


@pytest.mark.parametrize(
    "words",
    [("keys", "list"), ("keys", "list", "--json"), ("audit", "verify", "--deep"), ("doctor",)],
    ids=" ".join,
)
def test_what_somebody_wrote_into_the_database_never_steers_the_terminal(
    ready: Terminal, words: Sequence[str]
) -> None:
    with sqlite3.connect(ready.folder / "c.db") as database:
        database.execute("UPDATE program SET base_url = base_url || ?, key_prefix = ?", (HOSTILE, HOSTILE))
        database.execute(
            "INSERT INTO person_card (partner_ref, slack_id) VALUES (?, ?)", (HOSTILE, f"U0{HOSTILE}")
        )
    database.close()

    done = subprocess.run(
        [sys.executable, "-m", "bot", *words],
        cwd=ready.folder,
        env=ready.env,
        capture_output=True,
        timeout=60,
    )

    said = (done.stdout + done.stderr).decode()
    assert [c for c in said if not c.isprintable() and c != "\n"] == []
    assert "The audit chain is whole: 9 entries" not in [line.strip() for line in said.splitlines()]
    assert not any(line.startswith("The audit chain is whole: 9") for line in said.splitlines())
