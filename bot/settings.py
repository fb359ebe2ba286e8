"""What the environment says: secrets and addresses. What people decide is in `bot.config`.

Read once at start and passed on; nothing else looks at the environment. Every problem is reported at
once, and a `COUNTERSIGN_*` name that is not a setting is a problem, so that a misspelt name cannot
silently leave a default in place.
"""

from __future__ import annotations

import difflib
import re
import shlex
import stat
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from bot.domain.secret import Secret
from bot.partner.loopback import is_loopback

SLACK_API_URL = "https://slack.com/api/"
PARTNER_PATH = "/api/partner/v1"
# A key service that takes longer than this is down, and the start must say so rather than hang.
COMMAND_TIMEOUT_S = 10
MASTER_KEY_NAMES = (
    "COUNTERSIGN_MASTER_KEY_FILE",
    "COUNTERSIGN_MASTER_KEY_COMMAND",
    "COUNTERSIGN_MASTER_KEYS",
)
#: Every name read here, with its default as documented ("" = none).
NAMES: Mapping[str, str] = {
    "SLACK_BOT_TOKEN": "",
    "SLACK_APP_TOKEN": "",
    "SLACK_SIGNING_SECRET": "",
    "SLACK_API_URL": SLACK_API_URL,
    "COUNTERSIGN_CONFIG": "countersign.toml",
    "COUNTERSIGN_DATABASE_URL": "sqlite:///var/countersign.db",
    "COUNTERSIGN_MASTER_KEY_FILE": "",
    "COUNTERSIGN_MASTER_KEY_COMMAND": "",
    "COUNTERSIGN_MASTER_KEYS": "",
    "COUNTERSIGN_PARTNER_URL": "",
    "COUNTERSIGN_PARTNER_KEY": "",
    "COUNTERSIGN_HTTP_BIND": "127.0.0.1:8402",
    "COUNTERSIGN_METRICS_BIND": "127.0.0.1:8403",
    "COUNTERSIGN_PUBLIC_URL": "",
    "COUNTERSIGN_LANGUAGE_MODEL_KEY": "",
    "COUNTERSIGN_LOG": "",
}


class Need(StrEnum):
    """What a command cannot do without."""

    SLACK = "slack"
    MASTER_KEY = "master_key"


class SettingsError(Exception):
    """The environment is not usable; `problems` are sentences, one each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Bind:
    """An address to listen on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class MasterKeySource:
    """Where the keyring comes from: a file, the output of a command, or the variable itself."""

    name: str
    value: Secret

    def read(self) -> Secret:
        """The keyring's text. Raises `SettingsError` with the mend."""
        if self.name == "COUNTERSIGN_MASTER_KEY_FILE":
            return self._from_file(Path(self.value.reveal()))
        if self.name == "COUNTERSIGN_MASTER_KEY_COMMAND":
            return self._from_command(shlex.split(self.value.reveal()))
        return Secret("\n".join(self.value.reveal().split()))

    def _from_file(self, path: Path) -> Secret:
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise SettingsError([f"{self.name}: {path} is not a file."])
            if stat.S_IMODE(mode) & 0o177:
                raise SettingsError(
                    [f"{self.name}: {path} may be read by others; only its owner may: chmod 600 {path}"]
                )
            return Secret(path.read_text(encoding="ascii"))
        except OSError as error:
            raise SettingsError([f"{self.name}: {path} cannot be read ({error.strerror})."]) from None
        except UnicodeDecodeError:
            raise SettingsError([f"{self.name}: {path} is not a keyring: one base64 key a line."]) from None

    def _from_command(self, argv: list[str]) -> Secret:
        try:
            # The operator's own command, as an argument vector: no shell reads it.
            done = subprocess.run(  # noqa: S603
                argv, stdout=subprocess.PIPE, timeout=COMMAND_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            sentence = f"{self.name}: {argv[0]} did not end within {COMMAND_TIMEOUT_S} seconds."
            raise SettingsError([sentence]) from None
        except OSError as error:
            raise SettingsError([f"{self.name}: {argv[0]} cannot be run ({error.strerror})."]) from None
        if done.returncode:
            raise SettingsError(
                [f"{self.name}: {argv[0]} ended with code {done.returncode}, printing no key."]
            )
        try:
            return Secret(done.stdout.decode("ascii"))
        except UnicodeDecodeError:
            raise SettingsError(
                [f"{self.name}: {argv[0]} printed no keyring: one base64 key a line."]
            ) from None


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment, checked. Secrets stay wrapped until the moment of use."""

    config_path: Path
    database_url: str = field(repr=False)  # may hold a password
    http_bind: Bind
    metrics_bind: Bind
    slack_api_url: str = SLACK_API_URL
    slack_bot_token: Secret | None = None
    slack_app_token: Secret | None = None
    slack_signing_secret: Secret | None = None
    master_key: MasterKeySource | None = None
    partner_url: str | None = None
    partner_key: Secret | None = None
    public_url: str | None = None
    language_model_key: Secret | None = None
    log: Literal["console", "json"] | None = None  # None = console on a terminal, else json

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, need: Collection[Need] = ()) -> Settings:
        """Check `env`. Raises `SettingsError` with every problem, those of missing needs included."""
        return _Reader(env).settings(frozenset(need))

    @property
    def socket_mode(self) -> bool:
        """With an app token Slack is reached by WebSocket, otherwise Slack posts to /slack/events."""
        return self.slack_app_token is not None


class _Reader:
    """Reads one environment, collecting problems instead of stopping at the first."""

    def __init__(self, env: Mapping[str, str]) -> None:
        # Compose files and unit files pass "" for what is not set.
        self.env = {name: value.strip() for name, value in env.items() if value.strip()}
        self.problems: list[str] = []

    def settings(self, need: frozenset[Need]) -> Settings:
        self._refuse_unknown_names()
        partner_url, partner_key = self._partner()
        settings = Settings(
            config_path=Path(self._text("COUNTERSIGN_CONFIG")),
            database_url=self._database_url(),
            http_bind=self._bind("COUNTERSIGN_HTTP_BIND"),
            metrics_bind=self._bind("COUNTERSIGN_METRICS_BIND"),
            slack_api_url=self._slack_api_url(),
            slack_bot_token=self._token("SLACK_BOT_TOKEN", "xoxb-"),
            slack_app_token=self._token("SLACK_APP_TOKEN", "xapp-"),
            slack_signing_secret=self._token("SLACK_SIGNING_SECRET", ""),
            master_key=self._master_key(),
            partner_url=partner_url,
            partner_key=partner_key,
            public_url=self._public_url(),
            language_model_key=self._token("COUNTERSIGN_LANGUAGE_MODEL_KEY", ""),
            log=self._log(),
        )
        self._check_needs(settings, need)
        if self.problems:
            raise SettingsError(self.problems)
        return settings

    def _text(self, name: str) -> str:
        return self.env.get(name, NAMES[name])

    def _refuse_unknown_names(self) -> None:
        for name in sorted(self.env):
            if name.startswith("COUNTERSIGN_") and name not in NAMES:
                close = difflib.get_close_matches(name, NAMES, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                self.problems.append(f"{name} is not a setting.{hint}")

    def _check_needs(self, settings: Settings, need: frozenset[Need]) -> None:
        if Need.SLACK in need:
            if settings.slack_bot_token is None:
                self._missing(
                    "SLACK_BOT_TOKEN", "the bot token of the installed app, which starts with xoxb-"
                )
            if settings.slack_app_token is None and settings.slack_signing_secret is None:
                self.problems.append(
                    "SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode) is needed."
                )
        if Need.MASTER_KEY in need and not any(name in self.env for name in MASTER_KEY_NAMES):
            self.problems.append(
                "No master key: set COUNTERSIGN_MASTER_KEY_FILE to a file made with"
                " `(umask 077; countersign keys new-master > master.key)`."
            )

    def _missing(self, name: str, what: str) -> None:
        if name not in self.env:  # otherwise its own problem is already in the list
            self.problems.append(f"{name} is needed: {what}.")

    def _token(self, name: str, prefix: str) -> Secret | None:
        value = self.env.get(name)
        if value is None:
            return None
        if not value.isascii() or any(c.isspace() for c in value):
            self.problems.append(f"{name} holds spaces or characters that no token has.")
            return None
        if not value.startswith(prefix):
            self.problems.append(
                f"{name} does not start with {prefix}: it looks like another of Slack's tokens."
            )
            return None
        return Secret(value)

    def _slack_api_url(self) -> str:
        url = self._text("SLACK_API_URL")
        self._check_url("SLACK_API_URL", url)
        if not url.endswith("/api/"):
            self.problems.append("SLACK_API_URL must end in /api/.")
        return url

    def _partner(self) -> tuple[str | None, Secret | None]:
        url, key = self.env.get("COUNTERSIGN_PARTNER_URL"), self._token("COUNTERSIGN_PARTNER_KEY", "")
        if (url is None) != ("COUNTERSIGN_PARTNER_KEY" not in self.env):
            self.problems.append(
                "COUNTERSIGN_PARTNER_URL and COUNTERSIGN_PARTNER_KEY go together; one is missing."
            )
        if url is not None:
            url = url.rstrip("/")
            self._check_url("COUNTERSIGN_PARTNER_URL", url)
            if not url.endswith(PARTNER_PATH):
                self.problems.append(f"COUNTERSIGN_PARTNER_URL must end in {PARTNER_PATH}.")
        return url, key

    def _public_url(self) -> str | None:
        url = self.env.get("COUNTERSIGN_PUBLIC_URL")
        if url is None:
            return None
        self._check_url("COUNTERSIGN_PUBLIC_URL", url)
        return url.rstrip("/")

    def _check_url(self, name: str, url: str) -> None:
        """An address with a host; https, except on this machine itself, since keys travel on it."""
        try:
            parts = urlsplit(url)
            host = parts.hostname
            _ = parts.port  # raises when it is no number
        except ValueError:
            host = None
        if host is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
            self.problems.append(f"{name} is not an address of the form https://host/path.")
        elif parts.username or parts.password:
            self.problems.append(f"{name} must not hold a user name or a password.")
        elif parts.scheme == "http" and not is_loopback(host):
            self.problems.append(
                f"{name} must start with https://: only this machine itself may be spoken to openly."
            )

    def _database_url(self) -> str:
        url = self._text("COUNTERSIGN_DATABASE_URL")
        if url.startswith("sqlite:///") and len(url) > len("sqlite:///") and ":memory:" not in url:
            return url
        if re.match(r"postgresql://[^/]+/.+|postgresql:///.+", url):
            return url
        self.problems.append(
            "COUNTERSIGN_DATABASE_URL must be sqlite:///relative/path.db, sqlite:////absolute/path.db"
            " or postgresql://user@host/name."
        )
        return url

    def _bind(self, name: str) -> Bind:
        host, colon, port = self._text(name).rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
            self.problems.append(f"{name} must be host:port, for example {NAMES[name]}.")
            return Bind("127.0.0.1", 0)
        return Bind(host, int(port))

    def _master_key(self) -> MasterKeySource | None:
        given = [name for name in MASTER_KEY_NAMES if name in self.env]
        if len(given) > 1:
            self.problems.append(
                f"{' and '.join(given)} are set: exactly one source of the master key is allowed."
            )
            return None
        if not given:
            return None
        value = self.env[given[0]]
        if given[0] == "COUNTERSIGN_MASTER_KEY_COMMAND":
            try:
                shlex.split(value)
            except ValueError as error:
                self.problems.append(f"{given[0]} cannot be split into arguments: {error}.")
        return MasterKeySource(given[0], Secret(value))

    def _log(self) -> Literal["console", "json"] | None:
        value = self.env.get("COUNTERSIGN_LOG")
        if value == "console":
            return "console"
        if value == "json":
            return "json"
        if value is not None:
            self.problems.append("COUNTERSIGN_LOG must be console or json.")
        return None
