"""`countersign.toml` as a whole: read, checked, and made into the values that the rest of the bot uses."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, create_model, model_validator

from bot.config import sections
from bot.config.policy import People, Policies, policies_of
from bot.config.problems import ConfigError, sentences
from bot.config.sections import Channels, Poll, Table
from bot.domain.alerts import Alerting
from bot.domain.events import Destination, Retention
from bot.domain.people import Policy


class Document(Table):
    """The file. `document` adds the policies of the operation kinds that there are."""

    slack: Channels = Field(description="Where the bot posts")
    people: People = Field(description="Who may do what")
    policy: Policies = Field(default_factory=Policies, description="Who must approve what")
    limits: sections.Limits = Field(
        default_factory=sections.Limits, description="How much may be approved in any 24 hours"
    )
    poll: Poll = Field(default_factory=Poll, description="How often each thing without an event is read")
    alerts: sections.Alerts = Field(
        default_factory=sections.Alerts, description="Which alerts are raised, and when"
    )
    details: sections.Details = Field(
        default_factory=sections.Details, description="Where card details may come from"
    )
    deposits: sections.Deposits = Field(
        default_factory=sections.Deposits, description="The field names of POST /deposits in your agreement"
    )
    conversation: sections.Conversation = Field(
        default_factory=sections.Conversation, description="What is kept of plain English"
    )
    language_model: sections.LanguageModel = Field(
        default_factory=sections.LanguageModel,
        description="Optional: proposes what a message may mean where the grammar finds nothing",
    )
    retention: sections.Retention = Field(
        default_factory=sections.Retention, description="How long what events said is kept"
    )
    relay: sections.Relay = Field(default_factory=sections.Relay, description="Events for other systems")

    @model_validator(mode="before")
    @classmethod
    def _with_needed_tables(cls, document: Any) -> Any:
        """A table that is not there is read as an empty one, so that what it lacks is named."""
        needed: dict[str, Any] = {name: {} for name, field in cls.model_fields.items() if field.is_required()}
        return needed | document


def document() -> type[Document]:
    """The model of the file, with a policy table for each operation kind there is."""
    # Imported here because the operations bring the API's client with them, and most commands need neither.
    from bot import operations

    return _document(tuple((name, kind.handling.run_now) for name, kind in operations.kinds().items()))


@cache
def _document(kinds: tuple[tuple[str, str], ...]) -> type[Document]:
    policies = policies_of(dict(kinds))
    described = Document.model_fields["policy"].description
    policy: Any = (policies, Field(default_factory=policies, description=described))
    return create_model("Document", __base__=Document, policy=policy)


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
    alerting: Alerting
    destinations: tuple[Destination, ...]
    detail_hosts: tuple[str, ...]  # that serve card details, apart from the API's own
    retention: Retention
    deposits: Mapping[str, str]  # our field -> its name in the body of POST /deposits; empty = off
    model: Model | None  # None = off
    keep_unread: bool  # whether texts that nobody understood are kept, masked
    digest: str

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
            given = tomllib.loads(content.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError([f"This is not TOML: {error}."]) from None
        model = document()
        try:
            found = model.model_validate(given, context=_zone(given))
        except ValidationError as error:
            raise ConfigError(sentences(error, model)) from None
        return _config(found, hashlib.sha256(content).hexdigest())


def _zone(given: Mapping[str, Any]) -> ZoneInfo:
    """The time zone that the file's dates are meant in; UTC where it is wrong, which is a problem of its own."""
    match given:
        case {"alerts": {"hours": {"timezone": str(name)}}}:
            try:
                return ZoneInfo(name)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                pass
    return ZoneInfo("UTC")


def _config(found: Document, digest: str) -> Config:
    default, kinds = found.policy.value()
    model, alerts = found.language_model, found.alerts
    return Config(
        channels=found.slack,
        policy=Policy(
            people=found.people.value(),
            kinds=kinds,
            default=default,
            limits=found.limits.value(),
            version=digest,
            delegations=tuple(row.value() for row in found.people.delegations),
        ),
        poll=found.poll,
        alerting=Alerting(
            alerts.float_levels.value(),
            alerts.declines.value(),
            alerts.hours.value(),
            alerts.call,
        ),
        destinations=tuple(row.value() for row in found.relay.destinations),
        detail_hosts=found.details.hosts,
        retention=found.retention.value(),
        deposits=found.deposits.names,
        model=Model(model.url, model.name) if model.url else None,
        keep_unread=found.conversation.keep_unread,
        digest=digest,
    )
