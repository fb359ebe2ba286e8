"""The tables of `countersign.toml`, one class for each, but for those that say who decides what (`policy`).

The name of a field, or its alias, is the key in the file; its description is what the documentation says of it.
Defaults that a rule of the domain has are taken from there.
"""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from bot.config import forms
from bot.config.forms import Names, Rows
from bot.config.problems import refuse
from bot.domain.alerts import DeclineAlert, FloatAlert
from bot.domain.events import Destination as RelayTo
from bot.domain.events import Retention as KeptFor
from bot.domain.people import Limits as RollingLimits
from bot.domain.time import Hours as TeamHours
from bot.partner.loopback import is_loopback
from bot.partner.models import CHALLENGE

_FLOAT, _DECLINES, _HOURS, _RETENTION = FloatAlert(), DeclineAlert(), TeamHours(), KeptFor()


class Table(BaseModel):
    """A table of the file: no value is converted, no name is unknown, nothing is changed later."""

    # Built when first used: the tables are validated as parts of the file, not one by one.
    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


class ValueTable(Table):
    """A table that becomes one value of the domain, field for field.

    TypeError when the class is made, where the two do not have the same fields.
    """

    becomes: ClassVar[type[Any]]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        here, there = set(cls.model_fields), {field.name for field in dataclasses.fields(cls.becomes)}
        if here != there:
            names = ", ".join(sorted(here ^ there))
            raise TypeError(f"{cls.__name__} and {cls.becomes.__name__} don't have the same fields: {names}")

    def value(self) -> Any:
        """The same for the domain."""
        return self.becomes(**dict(self))


class Channels(Table):
    """Where the bot posts."""

    approvals: forms.Channel = Field(alias="approvals_channel", description="Where requests are posted")
    alerts: forms.Channel = Field(alias="alerts_channel", description="Where alerts are posted")
    audit: forms.OptionalChannel = Field(
        None,
        alias="audit_channel",
        description="Where anchors of the audit chain are posted; empty = nowhere",
    )
    shared_ok: Names[forms.Channel] = Field(
        (),
        description="Which of these channels may be shared with another organization or have guests in them, who then"
        " read what is posted there. In any other such channel nothing is posted",
    )
    draft_only: bool = Field(
        False,
        description="Whether nothing is sent to the card provider: requests are made, previewed and approved for"
        " practice. See [Draft only](approvals.md#draft-only)",
    )

    @model_validator(mode="after")
    def _check_shared(self) -> Self:
        unused = [name for name in self.shared_ok if name not in (self.approvals, self.alerts, self.audit)]
        refuse([(("shared_ok",), f"names {name}, which is none of the channels above.") for name in unused])
        return self


class Poll(Table):
    """How often each thing without an event is read."""

    account: forms.Duration = Field(timedelta(seconds=60), description="How often the float is read")
    funding: forms.Duration = Field(
        timedelta(seconds=60), description="How often funding that is not final is read"
    )
    events: forms.Duration = Field(timedelta(seconds=60), description="How often missed events are fetched")
    cards: forms.Duration = Field(timedelta(minutes=10), description="How often the cards are read")
    ledger: forms.Duration = Field(
        timedelta(minutes=15), description="How often the ledger is compared with the float"
    )


class FloatLevels(ValueTable):
    """When the float counts as low."""

    becomes = FloatAlert

    floor_usd: forms.UsdOrZero = Field(
        _FLOAT.floor_usd, description="The alert for a low float is raised below this amount"
    )
    clear_usd: forms.UsdOrZero = Field(
        _FLOAT.clear_usd,
        description="The alert is resolved at or above this amount; not less than `floor_usd`",
    )
    runway_hours: forms.Count = Field(
        _FLOAT.runway_hours,
        description="The alert is also raised when the float will last fewer hours than this",
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.clear_usd < self.floor_usd:
            phrase = "must not be below floor_usd, or the alert would clear while it is raised."
            refuse([(("clear_usd",), phrase)])
        return self


class Declines(ValueTable):
    """When declines share a message."""

    becomes = DeclineAlert

    window: forms.Duration = Field(
        _DECLINES.window, description="Declines of one cause within this time share a message"
    )
    cluster_at: Annotated[int, Field(ge=2)] = Field(
        _DECLINES.cluster_at, description="At this many declines the message becomes a cluster alert"
    )


class Hours(ValueTable):
    """The team's hours."""

    becomes = TeamHours

    timezone: forms.Timezone = Field(
        _HOURS.timezone, description='The team\'s time zone, such as `"Europe/Berlin"`'
    )
    quiet: forms.Quiet = Field(
        _HOURS.quiet,
        description='Quiet hours, such as `"22:00-07:00"`: notes wait until they are over, warnings do not',
    )
    digest: forms.Clock = Field(
        _HOURS.digest, description="When the daily summary is posted, if anything happened; empty = never"
    )


def _one_or_more(given: object) -> object:
    """A single name may stand without its list."""
    return (given,) if isinstance(given, str) and given else given or ()


_ONE_OR_MORE = BeforeValidator(
    _one_or_more, json_schema_input_type=forms.PersonOrGroup | tuple[forms.PersonOrGroup, ...]
)


class Alerts(Table):
    """Which alerts are raised, and when."""

    float_levels: FloatLevels = Field(
        default_factory=FloatLevels, alias="float", description="When the float counts as low"
    )
    declines: Declines = Field(default_factory=Declines, description="When declines share a message")
    hours: Hours = Field(default_factory=Hours, description="The team's hours")
    call: Annotated[Names[forms.PersonOrGroup], _ONE_OR_MORE] = Field(
        (),
        description='Who is mentioned in a critical alert, such as `"@card-ops"`; empty = the approvers.'
        " Other alerts mention nobody",
    )


def _at_least_a_day(kept_for: timedelta) -> timedelta:
    # The card provider gives an event up after two hours, the relay after a day [Delivery rules].
    if kept_for < timedelta(days=1):
        raise ValueError("must be at least a day: events are still delivered and relayed that long.")
    return kept_for


KeptDays = Annotated[forms.Duration, AfterValidator(_at_least_a_day)]


class Retention(ValueTable):
    """How long what events said is kept."""

    becomes = KeptFor

    events: KeptDays = Field(
        _RETENTION.events,
        description="How long the content of a handled event is kept; at least a day. Its id is kept permanently",
    )
    relay: KeptDays = Field(
        _RETENTION.relay,
        description="How long a copy is kept that another system never accepted; at least a day",
    )


def _relayed(event: str) -> str:
    if event == CHALLENGE:
        raise ValueError(f"names {event}, which is never relayed: it holds a one-time code.")
    return event


class Destination(ValueTable):
    """Another system that gets a copy of events."""

    becomes = RelayTo

    name: forms.Destination = Field(description="Its name in Countersign, different for each destination")
    url: forms.Https = Field(description="Its address: https, a host name, port 443")
    events: Names[Annotated[forms.EventType, AfterValidator(_relayed)]] = Field(
        description="The event types it gets, at least one"
    )

    @field_validator("events")
    @classmethod
    def _check_any(cls, events: tuple[str, ...]) -> tuple[str, ...]:
        if not events:
            raise ValueError("must name at least one event type.")
        return events


class Relay(Table):
    """Events for other systems."""

    destinations: Rows[Destination] = Field(
        (), description="Other systems that get a copy of events. See [Relay](relay.md)"
    )

    @field_validator("destinations")
    @classmethod
    def _check_names(cls, rows: tuple[Destination, ...]) -> tuple[Destination, ...]:
        names = [row.name for row in rows]
        again = [n for n, name in enumerate(names) if name in names[:n]]
        refuse(((n, "name"), f"is {names[n]!r} a second time.") for n in again)
        return rows


class Details(Table):
    """Where card details may come from."""

    hosts: Names[forms.Host] = Field(
        (),
        description="Hosts that serve card details, beside the API's own:"
        " the page of `/card reveal` embeds no other",
    )


class Deposits(Table):
    """The fields of the body of POST /deposits, which the API's document does not show."""

    card: forms.FieldName = Field(
        None,
        description="Name of the card's field in the body of POST /deposits, which the API's document does not"
        " show: take it from your agreement. Empty = no deposit quotes",
    )
    amount_usd: forms.FieldName = Field(None, description="Name of the amount's field there")
    asset: forms.FieldName = Field(None, description="Name of the token's field; empty = the body has none")
    chain: forms.FieldName = Field(None, description="Name of the network's field; empty = the body has none")

    @property
    def names(self) -> dict[str, str]:
        """Our field -> its name in the body; empty = no deposit quotes."""
        return {key: name for key, name in self if name}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = self.names
        needed = [key for key in ("card", "amount_usd") if names and key not in names]
        problems = [(key, "is needed where another field is named.") for key in needed]
        if len(set(names.values())) < len(names):
            problems.append(("card", "must not share its name with another field."))
        refuse(((key,), phrase) for key, phrase in problems)
        return self


class Conversation(Table):
    """What is kept of plain English."""

    keep_unread: bool = Field(
        False,
        description="Whether texts that nobody understood are kept for 30 days, without names, numbers and dates."
        " `countersign parse --unread` lists them",
    )


class LanguageModel(Table):
    """The optional language model. Its key is in the environment."""

    url: str = Field(
        "",
        description="Chat-completions address of a language model (any OpenAI-compatible one; http only on this"
        " machine). Empty = off. It gets the words of a message that the grammar does not understand, with"
        " placeholders for every name, number and address",
    )
    name: str = Field("", alias="model", description="The model's name, as that address knows it")

    @model_validator(mode="after")
    def _check_both(self) -> Self:
        if not self.url and not self.name:
            return self
        problems = []
        if not self.name:
            problems.append(("model", "is needed: the model's name, as the address knows it."))
        if not self.url.endswith("/chat/completions") or not _may_be_reached(self.url):
            phrase = "must be an https address that ends in /chat/completions; http only on this machine."
            problems.append(("url", phrase))
        refuse(((key,), phrase) for key, phrase in problems)
        return self


def _may_be_reached(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return forms.is_https(url) or (parts.scheme == "http" and is_loopback(parts.hostname or ""))


class Limits(ValueTable):
    """How much may be approved in any 24 hours."""

    becomes = RollingLimits

    per_requester_usd: forms.OptionalUsd = Field(
        None,
        description="The most that one person's requests, of all their accounts, may move in any 24 hours; empty ="
        " no limit",
    )
    per_pair_usd: forms.OptionalUsd = Field(
        None, description="The same limit for one person's requests that one other person approves"
    )
    total_usd: forms.OptionalUsd = Field(None, description="The same limit for everybody together")
