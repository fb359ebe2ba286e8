"""Reads `countersign.toml`, what people decide, into values; secrets and addresses are in `bot.settings`.

Every problem is reported at once, with the table and the key named. A key that is not known is a
problem: in a file that says who may move money, a misspelt key must not leave a default in place.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import time, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.config_policy import read_policy
from bot.config_table import Table
from bot.domain.addresses import is_address
from bot.domain.alerts import Alerting, DeclineAlert, FloatAlert
from bot.domain.events.relay import NEVER, Destination
from bot.domain.events.retention import Retention
from bot.domain.people.policy import Policy
from bot.domain.time.business_hours import Hours

# The service gives an event up after two hours, the relay after a day [Delivery rules].
_LEAST_KEPT = timedelta(days=1)
_CHANNEL = re.compile(r"#[^\s#@A-Z]{1,80}|[CG][A-Z0-9]{2,}")
_DESTINATION = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_QUIET = re.compile(rf"{_CLOCK.pattern}-{_CLOCK.pattern}")
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{1,62}(?::[1-9][0-9]{0,4})?")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
_EVENT = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


class ConfigError(Exception):
    """The file cannot be used; `problems` are sentences, one each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Channels:
    """Where the bot speaks, as written: an id or `#name`."""

    approvals: str
    alerts: str
    audit: str | None = None


@dataclass(frozen=True, slots=True)
class Poll:
    """How often each thing without an event is read."""

    account: timedelta = timedelta(seconds=60)
    funding: timedelta = timedelta(seconds=60)
    events: timedelta = timedelta(seconds=60)
    cards: timedelta = timedelta(minutes=10)
    ledger: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Model:
    """The optional language model: an OpenAI-compatible chat-completions address. Its key is in the environment."""

    url: str
    name: str


@dataclass(frozen=True, slots=True)
class Config:
    """The whole file. `digest` (also `policy.version`) is the SHA-256 of its bytes, in hex."""

    channels: Channels
    policy: Policy
    poll: Poll
    float_alert: FloatAlert
    decline_alert: DeclineAlert
    hours: Hours
    destinations: tuple[Destination, ...]
    detail_hosts: tuple[str, ...]  # that serve card details, besides the API's own
    retention: Retention
    deposits: Mapping[str, str]  # our field -> its name in the body of POST /deposits; empty = off
    model: Model | None  # None = off
    digest: str

    @property
    def alerting(self) -> Alerting:
        return Alerting(self.float_alert, self.decline_alert, self.hours)

    @classmethod
    def load(cls, path: Path) -> Config:
        """Read the file. Raises `ConfigError` with every problem."""
        try:
            return cls.parse(path.read_bytes())
        except OSError as error:
            raise ConfigError(
                [f"{path} cannot be read ({error.strerror}): COUNTERSIGN_CONFIG says where the file is."]
            ) from None

    @classmethod
    def parse(cls, content: bytes) -> Config:
        """Check the bytes of a file. Raises `ConfigError` with every problem."""
        try:
            document = tomllib.loads(content.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError([f"This is not TOML: {error}."]) from None
        problems: list[str] = []
        config = _read(Table("", document, problems), hashlib.sha256(content).hexdigest())
        if problems:
            raise ConfigError(problems)
        return config


def _read(root: Table, digest: str) -> Config:
    alerts, relay = root.table("alerts"), root.table("relay")
    hours = _hours(alerts.table("hours"))
    config = Config(
        channels=_channels(root.table("slack")),
        policy=read_policy(root, digest, hours.zone),
        poll=_poll(root.table("poll")),
        float_alert=_float_alert(alerts.table("float")),
        decline_alert=_decline_alert(alerts.table("declines")),
        hours=hours,
        destinations=_destinations(relay),
        detail_hosts=_detail_hosts(root.table("details")),
        retention=_retention(root.table("retention")),
        deposits=_deposits(root.table("deposits")),
        model=_model(root.table("language_model")),
        digest=digest,
    )
    for table in (alerts, relay, root):
        table.refuse_the_rest()
    return config


def _channels(table: Table) -> Channels:
    what = 'a "#channel" or a channel id'
    found = {key: table.text(f"{key}_channel", _CHANNEL, what) for key in ("approvals", "alerts", "audit")}
    for key in ("approvals", "alerts"):
        if not table.values.get(f"{key}_channel"):
            table.problem(f"{key}_channel", f"is needed: {what}.")
    table.refuse_the_rest()
    return Channels(found["approvals"] or "", found["alerts"] or "", found["audit"])


def _poll(table: Table) -> Poll:
    usual = Poll()
    poll = Poll(
        account=table.duration("account", usual.account),
        funding=table.duration("funding", usual.funding),
        events=table.duration("events", usual.events),
        cards=table.duration("cards", usual.cards),
        ledger=table.duration("ledger", usual.ledger),
    )
    table.refuse_the_rest()
    return poll


def _retention(table: Table) -> Retention:
    usual = Retention()
    found = Retention(table.duration("events", usual.events), table.duration("relay", usual.relay))
    for key, kept_for in (("events", found.events), ("relay", found.relay)):
        if kept_for < _LEAST_KEPT:
            table.problem(key, "must be at least a day: events are still delivered and relayed that long.")
    table.refuse_the_rest()
    return found


def _float_alert(table: Table) -> FloatAlert:
    usual = FloatAlert()
    floor_usd = table.usd("floor_usd", usual.floor_usd, zero=True)
    clear_usd = table.usd("clear_usd", usual.clear_usd, zero=True)
    for key, amount_usd in (("floor_usd", floor_usd), ("clear_usd", clear_usd)):
        if table.values.get(key) == "" and amount_usd is None:
            table.problem(key, "must not be empty.")
    alert = FloatAlert(
        usual.floor_usd if floor_usd is None else floor_usd,
        usual.clear_usd if clear_usd is None else clear_usd,
        table.count("runway_hours", usual.runway_hours),
    )
    if alert.clear_usd < alert.floor_usd:
        table.problem(
            "clear_usd", "must not be below floor_usd, or the alert would clear while it is raised."
        )
    table.refuse_the_rest()
    return alert


def _decline_alert(table: Table) -> DeclineAlert:
    usual = DeclineAlert()
    window = table.duration("window", usual.window)
    alert = DeclineAlert(window, table.count("cluster_at", usual.cluster_at, least=2))
    table.refuse_the_rest()
    return alert


def _hours(table: Table) -> Hours:
    """`timezone = "Europe/Berlin"`, `quiet = "22:00-07:00"`, `digest = "09:00"`; an empty text is none."""
    usual = Hours()
    timezone: str = table.get("timezone", str, "a time zone") or usual.timezone
    try:
        ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        table.problem("timezone", f'is {timezone!r}; write a name such as "Europe/Berlin" or "UTC".')
        timezone = usual.timezone
    quiet = table.text("quiet", _QUIET, 'hours such as "22:00-07:00"')
    digest = table.text("digest", _CLOCK, 'an hour such as "09:00"')
    found = Hours(timezone, usual.quiet, usual.digest)
    if quiet and _QUIET.fullmatch(quiet):
        begins, _, ends = quiet.partition("-")
        if begins == ends:
            table.problem("quiet", "must not begin and end at the same hour.")
        found = replace(found, quiet=(time.fromisoformat(begins), time.fromisoformat(ends)))
    if table.values.get("digest") == "":
        found = replace(found, digest=None)
    elif digest and _CLOCK.fullmatch(digest):
        found = replace(found, digest=time.fromisoformat(digest))
    table.refuse_the_rest()
    return found


def _destinations(relay: Table) -> tuple[Destination, ...]:
    found: list[Destination] = []
    for row in relay.tables("destinations"):
        name = row.text("name", _DESTINATION, "a short name of small letters, digits and dashes") or ""
        url: str = row.get("url", str, "an https address") or ""
        events = row.texts("events", _EVENT, 'an event type such as "card.authorized"')
        row.refuse_the_rest()
        if not name:
            row.problem("name", "is needed.")
        elif name in (other.name for other in found):
            row.problem("name", f"is {name!r} a second time.")
        if not _is_https(url):
            row.problem(
                "url", "must be an address of the form https://host/path, with a name and the usual port."
            )
        if not events:
            row.problem("events", "must name at least one event type.")
        for event in NEVER.intersection(events):
            row.problem("events", f"names {event}, which is never relayed: it holds a one-time code.")
        found.append(Destination(name, url, events))
    return tuple(found)


def _detail_hosts(table: Table) -> tuple[str, ...]:
    hosts = table.texts("hosts", _HOST, 'a host such as "cards.example.com"')
    table.refuse_the_rest()
    return hosts


def _deposits(table: Table) -> Mapping[str, str]:
    """The fields of a body that the API's document does not show, by the words of the agreement."""
    what = "the name of a field, as your agreement has it"
    given = {key: table.text(key, _FIELD, what) for key in ("card", "amount_usd", "asset", "chain")}
    names = {key: name for key, name in given.items() if name}
    for key in ("card", "amount_usd") if names else ():
        if key not in names:
            table.problem(key, f"is needed: {what}.")
    if len(set(names.values())) < len(names):
        table.problem("card", "must not share its name with another field.")
    table.refuse_the_rest()
    return names


def _model(table: Table) -> Model | None:
    """`url = "https://…/v1/chat/completions"`, `model = "…"`; without them there is none."""
    url: str = table.get("url", str, "an address") or ""
    name: str = table.get("model", str, "the model's name") or ""
    table.refuse_the_rest()
    if not url and not name:
        return None
    if not name:
        table.problem("model", "is needed: the model's name, as the address knows it.")
    if not url.endswith("/chat/completions") or not (_is_https(url) or _is_loopback(url)):
        table.problem(
            "url", "must be an https address that ends in /chat/completions; http only on this machine."
        )
    return Model(url, name)


def _is_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        named = bool(host) and host.isascii() and not is_address(host)
        return parts.scheme == "https" and named and "@" not in parts.netloc and parts.port in (None, 443)
    except ValueError:
        return False
