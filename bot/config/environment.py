"""What the environment says: secrets and addresses. What people decide is in `countersign.toml` (`file`).

Read once at start and passed on. A `COUNTERSIGN_*` name that is not a setting is a problem, so that a misspelt
name cannot silently leave a default in place.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from bot.config.master_key import COMMAND_TIMEOUT_S, MasterKeySource
from bot.config.problems import SettingsError, fields_of, refuse, sentences, unknown
from bot.partner.loopback import is_loopback
from bot.partner.secret import Secret

PARTNER_PATH = "/api/partner/v1"
MASTER_KEY_NAMES = (
    "COUNTERSIGN_MASTER_KEY_FILE",
    "COUNTERSIGN_MASTER_KEY_COMMAND",
    "COUNTERSIGN_MASTER_KEYS",
)


class Need(StrEnum):
    """What a command cannot do without."""

    SLACK = "slack"  # a token, with which it speaks
    SLACK_EVENTS = "slack_events"  # a way by which Slack reaches it
    MASTER_KEY = "master_key"


@dataclass(frozen=True, slots=True)
class Bind:
    """An address to listen on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _bind(usual: Bind) -> Callable[[str], Bind]:
    """Reads an address to listen on, such as the usual one."""

    def read(text: str) -> Bind:
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
            raise ValueError(f"must be host:port, for example {usual}.")
        return Bind(host, int(port))

    return read


def _token(prefix: str = "") -> Callable[[str], Secret]:
    """Reads a token or key that begins so."""

    def read(text: str) -> Secret:
        if not text.isascii() or any(c.isspace() for c in text):
            raise ValueError("holds spaces or characters that no token has.")
        if not text.startswith(prefix):
            raise ValueError(f"does not start with {prefix}: it looks like another of Slack's tokens.")
        return Secret(text)

    return read


def _signing_secret(text: str) -> Secret:
    if len(text) < _LEAST_SECRET:
        raise ValueError(
            f"has fewer than {_LEAST_SECRET} characters: Slack's has 32. Copy it from Basic Information."
        )
    return _token()(text)


def _proxies(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Addresses and networks, with commas between them."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(ipaddress.ip_network(part))
        except ValueError:
            raise ValueError(
                f"holds {part!r}, which is not an IP address or a network such as 10.0.0.0/24."
            ) from None
    return tuple(found)


def _command(text: str) -> Secret:
    try:
        shlex.split(text)
    except ValueError as error:
        raise ValueError(f"cannot be split into arguments: {error}.") from None
    return Secret(text)


def _address(ending: str = "") -> Callable[[str], str]:
    """Reads an address with a host; https, except on this machine itself, since keys travel on it."""

    def read(url: str) -> str:
        phrases = list(_address_problems(url))
        if not url.endswith(ending):
            phrases.append(f"must end in {ending}.")
        refuse(((), phrase) for phrase in phrases)
        return url

    return read


def _address_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port  # raises when it is no number
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        yield "is not an address of the form https://host/path."
    elif parts.username or parts.password:
        yield "must not hold a user name or a password."
    elif parts.scheme == "http" and not is_loopback(host):
        yield "must start with https://: only this machine itself may be spoken to openly."


def _collector(url: str) -> str:
    """Of whoever collects traces: often near by and without TLS. No secret travels on it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("is not an address of the form http://host:4318.")
    if parts.username or parts.password:
        raise ValueError("must not hold a user name or a password: use OTEL_EXPORTER_OTLP_HEADERS.")
    return url


def _without_slash(url: str) -> str:
    return url.rstrip("/")


def _database_url(url: str) -> str:
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///") and ":memory:" not in url:
        return url
    if re.match(r"postgresql://[^/]+/.+|postgresql:///.+", url):
        return url
    raise ValueError(
        "must be sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host/name."
    )


def _read(*steps: Callable[[Any], Any]) -> PlainValidator:
    """Annotates a variable with what makes its value of its text, one step after the other."""

    def read(text: str) -> object:
        value: object = text
        for step in steps:
            value = step(value)
        return value

    return PlainValidator(read)


# One that is shorter could be guessed, and whoever has it can press Approve in HTTP mode.
_LEAST_SECRET = 16
_HTTP, _METRICS = Bind("127.0.0.1", 8402), Bind("127.0.0.1", 8403)

Token = Annotated[Secret, _read(_token())]


class Settings(BaseModel):
    """The environment, checked. Secrets stay wrapped until the moment of use."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    slack_bot_token: Annotated[Secret, _read(_token("xoxb-"))] | None = Field(
        None, alias="SLACK_BOT_TOKEN", description="The installed app's bot token (`xoxb-…`)"
    )
    slack_app_token: Annotated[Secret, _read(_token("xapp-"))] | None = Field(
        None,
        alias="SLACK_APP_TOKEN",
        description="App-level token (`xapp-…`, scope `connections:write`): Socket Mode, nothing has to reach the"
        " bot from outside",
    )
    slack_signing_secret: Annotated[Secret, _read(_signing_secret)] | None = Field(
        None,
        alias="SLACK_SIGNING_SECRET",
        description="Without an app token: HTTP mode, Slack posts to `/slack/events`",
    )
    slack_api_url: Annotated[str, _read(_address("/api/"))] = Field(
        "https://slack.com/api/",
        alias="SLACK_API_URL",
        description="The address of Slack's Web API, ending in `/api/`; the demo sets it to its own Slack",
    )
    config_path: Annotated[Path, _read(Path)] = Field(
        Path("countersign.toml"), alias="COUNTERSIGN_CONFIG", description="Where `countersign.toml` is"
    )
    database_url: Annotated[str, _read(_database_url)] = Field(
        "sqlite:///var/countersign.db",
        alias="COUNTERSIGN_DATABASE_URL",
        repr=False,  # may hold a password
        description="`sqlite:////absolute/path.db` or `postgresql://user@host/name`",
    )
    master_key_file: Annotated[Secret, _read(Secret)] | None = Field(
        None,
        alias="COUNTERSIGN_MASTER_KEY_FILE",
        description="The master keys in a file that only its owner may read (mode 0600 or 0400)",
    )
    master_key_command: Annotated[Secret, _read(_command)] | None = Field(
        None,
        alias="COUNTERSIGN_MASTER_KEY_COMMAND",
        description=f"Or a command that prints them; run without a shell, for at most {COMMAND_TIMEOUT_S} seconds",
    )
    master_keys: Annotated[Secret, _read(Secret)] | None = Field(
        None,
        alias="COUNTERSIGN_MASTER_KEYS",
        description="Or the keys themselves, for development only: other processes may see them",
    )
    partner_url: Annotated[str, _read(_without_slash, _address(PARTNER_PATH))] | None = Field(
        None,
        alias="COUNTERSIGN_PARTNER_URL",
        description="With the key: one program named `main`, sealed into the database at the start; ends in"
        f" `{PARTNER_PATH}`",
    )
    partner_key: Token | None = Field(
        None,
        alias="COUNTERSIGN_PARTNER_KEY",
        description="Its API key; `countersign keys set` is the way that leaves no key in the environment",
    )
    http_bind: Annotated[Bind, _read(_bind(_HTTP))] = Field(
        _HTTP,
        alias="COUNTERSIGN_HTTP_BIND",
        description="The bot's web server: `/healthz`, `/readyz`, `/webhooks/PROGRAM`, `/details`, `/passkey`, and in"
        " HTTP mode `/slack/events`",
    )
    proxies: Annotated[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...], _read(_proxies)] = Field(
        (),
        alias="COUNTERSIGN_PROXIES",
        description="IP addresses or networks of the proxies before the web server, with commas: of them the client's"
        " address (`X-Forwarded-For`) is believed, so that limits count each client and not the proxy",
    )
    metrics_bind: Annotated[Bind, _read(_bind(_METRICS))] = Field(
        _METRICS,
        alias="COUNTERSIGN_METRICS_BIND",
        description="Metrics for Prometheus, at `/metrics`. A second process on a machine needs an address of its own",
    )
    otlp_endpoint: Annotated[str, _read(_without_slash, _collector)] | None = Field(
        None,
        alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Where traces of requests are sent by OpenTelemetry over HTTP, such as `http://collector:4318`."
        " Needs the extra `otel`",
    )
    anchors_file: Path | None = Field(
        None,
        alias="COUNTERSIGN_ANCHORS_FILE",
        description="A file on another disk to which the end of the audit chain is written. Each start reads it, and so"
        " notices an older copy of the database",
    )
    anchors_command: str | None = Field(
        None,
        alias="COUNTERSIGN_ANCHORS_COMMAND",
        description="The same by a command of yours: run with `write` it takes a line on standard input, with `read` it"
        " prints every line that it took",
    )
    public_url: Annotated[str, _read(_address(), _without_slash)] | None = Field(
        None,
        alias="COUNTERSIGN_PUBLIC_URL",
        description="https address under which the web server is reached: for the webhook, for the page of"
        " `/card reveal`, which is not offered without it, and for [passkeys](passkeys.md), which belong to its host",
    )
    language_model_key: Token | None = Field(
        None,
        alias="COUNTERSIGN_LANGUAGE_MODEL_KEY",
        description="The key of the language model, where `language_model.url` is set and wants one",
    )
    log: Literal["console", "json"] | None = Field(
        None,
        alias="COUNTERSIGN_LOG",
        description="`console` or `json`; if not set, `console` on a terminal, else `json`",
    )

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, need: Collection[Need] = ()) -> Self:
        """Check `env`. Raises `SettingsError` with every problem, those of missing needs included."""
        # Compose files and unit files pass "" for what is not set.
        given = {name: value.strip() for name, value in env.items() if value.strip()}
        names = {field.alias for field in cls.model_fields.values()}
        problems = [*_unknown_names(given), *_wrong_combinations(given), *_missing(given, need)]
        found = None
        try:
            found = cls.model_validate({name: value for name, value in given.items() if name in names})
        except ValidationError as error:
            problems += sentences(error, cls)
        # Raised here, where no error that holds a value is being handled.
        if found is None or problems:
            raise SettingsError(problems)
        return found

    def is_set(self, name: str) -> bool:
        """Does the environment say it, or is it the default?"""
        return name in self.model_fields_set

    @property
    def socket_mode(self) -> bool:
        """With an app token Slack is reached by WebSocket, otherwise Slack posts to /slack/events."""
        return self.slack_app_token is not None

    @property
    def master_key(self) -> MasterKeySource | None:
        """Where the master key comes from."""
        values = (self.master_key_file, self.master_key_command, self.master_keys)
        sources = zip(MASTER_KEY_NAMES, values, strict=True)
        return next((MasterKeySource(name, value) for name, value in sources if value is not None), None)


# Kubernetes describes every Service to every container of its namespace so, one named `countersign` included.
_OF_A_SERVICE = re.compile(
    r"COUNTERSIGN_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)"
)
_PORT = re.compile(r"COUNTERSIGN_(\w+_)?PORT")


def _is_from_kubernetes(name: str, value: str) -> bool:
    # A person may write COUNTERSIGN_PORT by mistake, but not with a value such as tcp://10.96.7.21:8402.
    return bool(_OF_A_SERVICE.fullmatch(name)) or bool(_PORT.fullmatch(name) and "://" in value)


def _unknown_names(given: Mapping[str, str]) -> Iterator[str]:
    known = fields_of(Settings)
    for name in sorted(given):
        if name in known or _is_from_kubernetes(name, given[name]):
            continue
        if name.startswith("COUNTERSIGN_"):
            yield f"{name} is not a setting.{unknown(name, known, prefix='COUNTERSIGN_')}"


def _wrong_combinations(given: Mapping[str, str]) -> Iterator[str]:
    if ("COUNTERSIGN_PARTNER_URL" in given) != ("COUNTERSIGN_PARTNER_KEY" in given):
        yield "COUNTERSIGN_PARTNER_URL and COUNTERSIGN_PARTNER_KEY go together; one is missing."
    sources = [name for name in MASTER_KEY_NAMES if name in given]
    if len(sources) > 1:
        yield f"{' and '.join(sources)} are set: exactly one source of the master key is allowed."


def _missing(given: Mapping[str, str], need: Collection[Need]) -> Iterator[str]:
    if Need.SLACK in need and "SLACK_BOT_TOKEN" not in given:
        yield "SLACK_BOT_TOKEN is needed: the bot token of the installed app, which starts with xoxb-."
    if Need.SLACK_EVENTS in need and given.keys().isdisjoint({"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}):
        yield "SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode) is needed."
    if Need.MASTER_KEY in need and given.keys().isdisjoint(MASTER_KEY_NAMES):
        yield (
            "No master key: set COUNTERSIGN_MASTER_KEY_FILE to a file made with"
            " `(umask 077; countersign keys new-master > master.key)`."
        )
