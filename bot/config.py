"""Reads `countersign.toml`, what people decide, into values; secrets and addresses are in `bot.settings`.

Every problem is reported at once, with the table and the key named. A key that is not known is a
problem: in a file that says who may move money, a misspelt key must not leave a default in place.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot import operations
from bot.domain.addresses import is_address
from bot.domain.alert_rules import Alerting, DeclineAlert, FloatAlert
from bot.domain.delegation import LONGEST, Delegation
from bot.domain.hours import Hours
from bot.domain.money import InvalidAmount, parse_usd
from bot.domain.policy import KINDS, KindPolicy, Limits, People, Policy, Tier
from bot.domain.relaying import NEVER, Destination
from bot.domain.retention import Retention

# The service gives an event up after two hours, the relay after a day [Delivery rules].
_LEAST_KEPT = timedelta(days=1)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_PERSON = re.compile(r"@[a-z0-9][a-z0-9._-]*|[UWS][A-Z0-9]{2,}")
_ONE_PERSON = re.compile(r"@[a-z0-9][a-z0-9._-]*|[UW][A-Z0-9]{2,}")
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
        config = _read(_Table("", document, problems), hashlib.sha256(content).hexdigest())
        if problems:
            raise ConfigError(problems)
        return config


def parse_duration(text: str) -> timedelta | None:
    """`90s`, `15m`, `8h`, `2d`; None when it is none of these or zero."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None


class _Table:
    """One table of the file: typed reads that collect problems, and the names nobody read."""

    def __init__(self, name: str, values: Mapping[str, Any], problems: list[str]) -> None:
        self.name = name
        self.values = values
        self.problems = problems
        self.known: set[str] = set()

    def path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def problem(self, key: str, sentence: str) -> None:
        self.problems.append(f"{self.path(key)} {sentence}")

    def get(self, key: str, type_: type, what: str) -> Any:
        """The value when it is there and of the type (a bool is no int); else None, and a problem."""
        self.known.add(key)
        value = self.values.get(key)
        if value is None or type(value) is type_:
            return value
        self.problem(key, f"must be {what}.")
        return None

    def table(self, key: str) -> _Table:
        return _Table(self.path(key), self.get(key, dict, "a table") or {}, self.problems)

    def tables(self, key: str) -> list[_Table]:
        rows = self.get(key, list, "a list of tables") or []
        if not all(isinstance(row, dict) for row in rows):
            self.problem(key, "must be a list of tables.")
            return []
        return [_Table(f"{self.path(key)}[{n}]", row, self.problems) for n, row in enumerate(rows, 1)]

    def texts(self, key: str, pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
        """A list of texts, each of the form, none twice."""
        found: list[object] = self.get(key, list, f"a list of {what}") or []
        texts: dict[str, None] = {}
        for text in found:
            if not (isinstance(text, str) and pattern.fullmatch(text)):
                self.problem(key, f"holds {text!r}, which is not {what}.")
            elif text in texts:
                self.problem(key, f"names {text} twice.")
            else:
                texts[text] = None
        return tuple(texts)

    def text(self, key: str, pattern: re.Pattern[str], what: str) -> str | None:
        value: str | None = self.get(key, str, what)
        if value and not pattern.fullmatch(value):
            self.problem(key, f"is {value!r}, which is not {what}.")
        return value or None

    def count(self, key: str, default: int, *, least: int = 1) -> int:
        value = self.get(key, int, "a whole number")
        if value is not None and value < least:
            self.problem(key, f"must be at least {least}.")
        return default if value is None else int(value)

    def duration(self, key: str, default: timedelta) -> timedelta:
        text = self.get(key, str, 'a duration in quotes, such as "90s", "15m", "8h" or "2d"')
        if text is None:
            return default
        found = parse_duration(text)
        if found is None:
            self.problem(key, f'is {text!r}; write a duration such as "90s", "15m", "8h" or "2d".')
        return found or default

    def moment(self, key: str, zone: ZoneInfo, *, end_of_day: bool = False) -> datetime | None:
        """A date, the whole day of `zone` counting, or a time with its offset; a problem where it is neither."""
        self.known.add(key)
        value = self.values.get(key)
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
            except ValueError:
                value = None
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
        if isinstance(value, date) and not isinstance(value, datetime):
            day = value + timedelta(days=1) if end_of_day else value
            return datetime.combine(day, time(), zone).astimezone(UTC)
        self.problem(key, "must be a date such as 2026-03-02, or a time with its offset.")
        return None

    def usd(self, key: str, default: Decimal | None = None, *, zero: bool = False) -> Decimal | None:
        """Dollars in quotes; empty = none. TOML's own numbers are refused: they are binary fractions."""
        text = self.get(key, str, 'dollars in quotes, such as "500" or "99.50"')
        if text is None:
            return default
        if not text:
            return None
        if zero and re.fullmatch(r"0(\.00?)?", text):
            return Decimal(0)
        try:
            return parse_usd(text)
        except InvalidAmount as error:
            self.problem(key, f"is {text!r}: {error}")
            return None

    def refuse_the_rest(self, known: Iterable[str] = ()) -> None:
        """Call last: every key that nothing asked for is a problem."""
        known_keys = self.known.union(known)
        for key in self.values:
            if key not in known_keys:
                close = difflib.get_close_matches(key, known_keys, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                self.problem(key, f"is not known.{hint}")


def _read(root: _Table, digest: str) -> Config:
    alerts, relay = root.table("alerts"), root.table("relay")
    hours = _hours(alerts.table("hours"))
    config = Config(
        channels=_channels(root.table("slack")),
        policy=_policy(root, digest, hours.zone),
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


def _channels(table: _Table) -> Channels:
    what = 'a "#channel" or a channel id'
    found = {key: table.text(f"{key}_channel", _CHANNEL, what) for key in ("approvals", "alerts", "audit")}
    for key in ("approvals", "alerts"):
        if not table.values.get(f"{key}_channel"):
            table.problem(f"{key}_channel", f"is needed: {what}.")
    table.refuse_the_rest()
    return Channels(found["approvals"] or "", found["alerts"] or "", found["audit"])


def _policy(root: _Table, digest: str, zone: ZoneInfo) -> Policy:
    tables = root.table("policy")
    default = _kind(tables.table("default"), KindPolicy())
    known = dict.fromkeys((*KINDS, *operations.kinds()))
    kinds = {kind: _kind(tables.table(kind), default) for kind in known if kind in tables.values}
    tables.refuse_the_rest(known)
    people = root.table("people")
    delegations = _delegations(people, zone)
    return Policy(_people(people), kinds, default, _limits(root.table("limits")), digest, delegations)


def _kind(table: _Table, default: KindPolicy) -> KindPolicy:
    """One policy table; what it does not set comes from `default`."""
    approvals = table.count("approvals", default.approvals)
    tiers = _tiers(table, approvals) if "tiers" in table.values else default.tiers
    now = default.now
    if table.name == "policy.card_freeze":
        given = table.get("now", bool, "true or false")
        now = default.now if given is None else given
    expires = table.duration("expires", default.expires)
    table.refuse_the_rest()
    return KindPolicy(approvals, expires, tiers, now)


def _tiers(table: _Table, approvals: int) -> tuple[Tier, ...]:
    """Steps that go up in amount and in approvals: any other step would never matter."""
    tiers: list[Tier] = []
    for row in table.tables("tiers"):
        above_usd = row.usd("above_usd", zero=True)
        needed = row.count("approvals", 0)
        row.refuse_the_rest()
        if above_usd is None or not needed:
            if not row.values.get("above_usd") or "approvals" not in row.values:
                table.problem("tiers", 'needs rows of the form { above_usd = "500", approvals = 2 }.')
            continue
        if needed <= max([approvals, *(tier.approvals for tier in tiers)]):
            row.problem(
                "approvals", f"is {needed}, no more than below that amount: the tier would do nothing."
            )
        if tiers and above_usd <= tiers[-1].above_usd:
            row.problem("above_usd", "must be more than in the tier before it.")
        tiers.append(Tier(above_usd, needed))
    return tuple(tiers)


def _people(table: _Table) -> People:
    what = 'an "@group", an "@user" or a Slack id'
    people = People(
        **{role: table.texts(role, _PERSON, what) for role in ("requesters", "approvers", "admins")}
    )
    if not people.approvers:
        table.problem("approvers", "names nobody, so no request could ever be approved.")
    table.refuse_the_rest()
    return people


def _delegations(people: _Table, zone: ZoneInfo) -> tuple[Delegation, ...]:
    """`{ from = "@bob", to = "@dora", since = 2026-03-02, until = 2026-03-08, reason = "on leave" }`"""
    found: list[Delegation] = []
    for row in people.tables("delegations"):
        away, delegate = (row.text(key, _ONE_PERSON, 'an "@user" or a Slack id') for key in ("from", "to"))
        since, until = row.moment("since", zone), row.moment("until", zone, end_of_day=True)
        reason: str = row.get("reason", str, "a text") or ""
        row.refuse_the_rest()
        for key, value in (("from", away), ("to", delegate), ("reason", reason.strip())):
            if not value:
                row.problem(key, "is needed.")
        if away is None or delegate is None or since is None or until is None:
            continue
        delegation = Delegation(away, delegate, since, until, reason.strip())
        if away == delegate:
            row.problem("to", "is the person who is away.")
        if until <= since:
            row.problem("until", "is not after since.")
        if until - since > LONGEST:
            row.problem("until", f"is more than {LONGEST.days} days away: name them as an approver instead.")
        if any(delegation.overlaps(other) for other in found):
            row.problem("since", "overlaps another delegation between the same two.")
        found.append(delegation)
    return tuple(found)


def _limits(table: _Table) -> Limits:
    limits = Limits(**{key: table.usd(key) for key in ("per_requester_usd", "per_pair_usd", "total_usd")})
    table.refuse_the_rest()
    return limits


def _poll(table: _Table) -> Poll:
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


def _retention(table: _Table) -> Retention:
    usual = Retention()
    found = Retention(table.duration("events", usual.events), table.duration("relay", usual.relay))
    for key, kept_for in (("events", found.events), ("relay", found.relay)):
        if kept_for < _LEAST_KEPT:
            table.problem(key, "must be at least a day: events are still delivered and relayed that long.")
    table.refuse_the_rest()
    return found


def _float_alert(table: _Table) -> FloatAlert:
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


def _decline_alert(table: _Table) -> DeclineAlert:
    usual = DeclineAlert()
    window = table.duration("window", usual.window)
    alert = DeclineAlert(window, table.count("cluster_at", usual.cluster_at, least=2))
    table.refuse_the_rest()
    return alert


def _hours(table: _Table) -> Hours:
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


def _destinations(relay: _Table) -> tuple[Destination, ...]:
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


def _detail_hosts(table: _Table) -> tuple[str, ...]:
    hosts = table.texts("hosts", _HOST, 'a host such as "cards.example.com"')
    table.refuse_the_rest()
    return hosts


def _deposits(table: _Table) -> Mapping[str, str]:
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


def _model(table: _Table) -> Model | None:
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
