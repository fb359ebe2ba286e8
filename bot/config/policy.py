"""The tables of `countersign.toml` that say who decides what: people, delegations, policies by kind.

What they mean is in `bot.domain.people.policy`; here they are read and made into its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, create_model, field_validator

from bot.config import forms
from bot.config.forms import Names, Rows
from bot.config.problems import Where, refuse
from bot.config.sections import Table, ValueTable
from bot.domain.people import LONGEST
from bot.domain.people import Delegation as DomainDelegation
from bot.domain.people import policy as domain

_USUAL = domain.KindPolicy()


def _since(value: object, info: ValidationInfo[ZoneInfo]) -> datetime:
    return _moment(value, info.context, days=0)


def _until(value: object, info: ValidationInfo[ZoneInfo]) -> datetime:
    return _moment(value, info.context, days=1)


def _moment(value: object, zone: ZoneInfo, *, days: int) -> datetime:
    """A time with its offset, in UTC; or so many days after the beginning of a day of `zone`."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value + timedelta(days=days), time(), zone).astimezone(UTC)
    raise ValueError("must be a date such as 2026-03-02, or a time with its offset.")


_DATE = WithJsonSchema({"anyOf": [{"type": "string", "format": form} for form in ("date", "date-time")]})


class Delegation(ValueTable):
    """One person decides in the place of another for a while. Validated in the context of the team's zone."""

    becomes = DomainDelegation

    away: forms.Person = Field(alias="from", description="Who is away")
    delegate: forms.Person = Field(alias="to", description="Who decides in their place")
    since: Annotated[datetime, BeforeValidator(_since), _DATE] = Field(
        description="The first day, in `alerts.hours.timezone`; or a time with its offset"
    )
    until: Annotated[datetime, BeforeValidator(_until), _DATE] = Field(
        description=f"The last day, included; or a time with its offset. At most {LONGEST.days} days later"
    )
    reason: forms.Text = Field(description="Why, for the record")

    @field_validator("delegate")
    @classmethod
    def _check_other(cls, delegate: str, info: ValidationInfo) -> str:
        if delegate == info.data.get("away"):
            raise ValueError("is the person who is away.")
        return delegate

    @field_validator("until")
    @classmethod
    def _check_length(cls, until: datetime, info: ValidationInfo) -> datetime:
        since = info.data.get("since", until - timedelta(days=1))
        if until <= since:
            raise ValueError("is not after since.")
        if until - since > LONGEST:
            raise ValueError(f"is more than {LONGEST.days} days away: name them as an approver instead.")
        return until


class People(Table):
    """Who may do what. Names are Slack ids, `@group` handles or `@user` names."""

    requesters: Names[forms.PersonOrGroup] = Field(
        (), description="Who may ask; empty = every full member of the workspace"
    )
    approvers: Names[forms.PersonOrGroup] = Field(
        description="Who may approve, at least one; nobody approves their own request"
    )
    admins: Names[forms.PersonOrGroup] = Field(
        (), description="Who may do what admins do; empty = the approvers"
    )
    same_person: Rows[Names[forms.Person]] = Field(
        (),
        description='Accounts that belong to one person, such as `[["@bob", "@bob-admin"]]`: together they count as one'
        " approver. Accounts with one mailbox are found without this",
    )
    settle: forms.DurationOrNone = Field(
        timedelta(0),
        description='A new approver counts only after this time, such as `"1h"`; `"0"` = at once. Counted from when'
        " Countersign sees the change, which the alerts channel shows",
    )
    delegations: Rows[Delegation] = Field(
        (),
        description="Who decides for somebody who is away. See [Approvals](approvals.md#deciding-in-somebodys-place)",
    )

    @field_validator("approvers")
    @classmethod
    def _check_any(cls, approvers: tuple[str, ...]) -> tuple[str, ...]:
        if not approvers:
            raise ValueError("names nobody, so no request could ever be approved.")
        return approvers

    @field_validator("same_person")
    @classmethod
    def _check_several(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        refuse(
            ((n,), "names fewer than two accounts of that person.")
            for n, accounts in enumerate(rows)
            if len(accounts) < 2
        )
        return rows

    @field_validator("delegations")
    @classmethod
    def _check_overlaps(cls, rows: tuple[Delegation, ...]) -> tuple[Delegation, ...]:
        found = [row.value() for row in rows]
        refuse(
            ((n, "since"), "overlaps another delegation between the same two.")
            for n, one in enumerate(found)
            if any(one.overlaps(other) for other in found[:n])
        )
        return rows

    def value(self) -> domain.People:
        """The same for the domain, without the delegations."""
        return domain.People(self.requesters, self.approvers, self.admins, self.same_person, self.settle)


class Tier(ValueTable):
    """More approvals above an amount."""

    becomes = domain.Tier

    above_usd: forms.UsdOrZero = Field(description="The tier counts above this amount")
    approvals: forms.Count = Field(description="This many people must approve: more than below that amount")
    passkey: bool = Field(
        False, description="Whether each of them approves with a passkey. See [Passkeys](passkeys.md)"
    )
    per: forms.Per = Field(
        domain.Per.REQUEST,
        description='Which amount: `"request"`, that of the request; `"card"` or `"requester"`, the sum that its'
        " requester was granted in the last 24 hours for that card, or in all, this one included",
    )
    cool_off: forms.DurationOrNone = Field(
        timedelta(0), description="As `cool_off` of the kind, for what is above that amount"
    )

    @field_validator("per")
    @classmethod
    def _check_passkey(cls, per: domain.Per, info: ValidationInfo) -> domain.Per:
        if per is not domain.Per.REQUEST and info.data.get("passkey"):
            raise ValueError("cannot be given with passkey, which goes by the amount of one request.")
        return per


class Rule(Table):
    """Who must approve a kind of operation. What a kind's table does not set comes from `policy.default`."""

    approvals: forms.Count = Field(
        _USUAL.approvals, description="People other than the requester who must approve"
    )
    expires: forms.Duration = Field(_USUAL.expires, description="How long a request waits for approval")
    tiers: Rows[Tier] = Field(
        (),
        description='More approvals above an amount, such as `{ above_usd = "500", approvals = 2 }`;'
        " each tier needs a higher amount and more approvals, or a longer `cool_off`, than the one before with the same"
        " `per`",
    )
    cool_off: forms.DurationOrNone = Field(
        _USUAL.cool_off,
        description='It is sent no sooner than this long after its last approval, such as `"10m"`; until then any'
        " approver can stop it. What is done at once is not held back",
    )
    passkey: bool = Field(
        _USUAL.passkey,
        description="Whether an approval is given with a passkey; it needs `COUNTERSIGN_PUBLIC_URL`. See"
        " [Passkeys](passkeys.md)",
    )
    call: forms.Call = Field(
        _USUAL.call,
        description='Whom a request mentions: `"group"`, those who can decide on it; `"nobody"`, nobody',
    )

    def over(self, usual: domain.KindPolicy) -> domain.KindPolicy:
        """For the domain: what this table sets, and the rest as in `usual`."""
        given = {name: value for name, value in self if name in self.model_fields_set}
        if "tiers" in given:
            given["tiers"] = tuple(tier.value() for tier in self.tiers)
        return replace(usual, **given)


def _now_rule(run_now: str) -> type[Rule]:
    """For a kind that can be sent at once, by a checkbox with these words."""

    class NowRule(Rule):
        """For a kind that can be done at once."""

        now: bool = Field(_USUAL.now, description=f"Whether *{run_now}* is offered")
        now_per_person: forms.Count = Field(
            _USUAL.now_per_person,
            description=f"How often one person may use *{run_now}* in 24 hours; after that it waits for approval",
        )

    return NowRule


class Policies(Table):
    """`[policy]`: the rule for every kind, and a rule for each kind that has one of its own."""

    default: Rule = Field(
        default_factory=Rule, description="The policy of every operation kind that has no table of its own"
    )

    @field_validator("*")
    @classmethod
    def _check_tiers(cls, rule: Rule, info: ValidationInfo) -> Rule:
        usual = info.data.get("default", rule).over(_USUAL)
        refuse(_idle_tiers(replace(rule.over(usual), tiers=tuple(tier.value() for tier in rule.tiers))))
        return rule

    def value(
        self, usual: domain.KindPolicy = _USUAL
    ) -> tuple[domain.KindPolicy, Mapping[str, domain.KindPolicy]]:
        """For the domain: the default, and the policy of each kind that has a table."""
        default = self.default.over(usual)
        kinds = {kind: rule.over(default) for kind, rule in self if kind in self.model_fields_set}
        kinds.pop("default", None)
        return default, kinds


def _idle_tiers(rule: domain.KindPolicy) -> Iterator[tuple[Where, str]]:
    """What is wrong with tiers that would never matter, as they do not go up in amount and in what they ask for.

    A tier asks for more approvals, for the first passkey, or for a longer wait. Those that look at the amount of each
    request, and those that look at a sum, are judged among themselves.
    """
    for per in domain.Per:
        below = domain.Tier(Decimal(-1), rule.approvals, rule.passkey, per, rule.cool_off)
        for n, tier in enumerate(rule.tiers):
            if tier.per is not per:
                continue
            more = tier.approvals > below.approvals or tier.cool_off > below.cool_off
            adds_passkey = tier.passkey and not below.passkey
            if tier.approvals < below.approvals or not (more or adds_passkey):
                phrase = f"is {tier.approvals}, no more than below that amount: the tier would do nothing."
                yield ("tiers", n, "approvals"), phrase
            if tier.above_usd <= below.above_usd:
                yield ("tiers", n, "above_usd"), "must be more than in the tier before it."
            below = domain.Tier(
                tier.above_usd,
                max(below.approvals, tier.approvals),
                tier.passkey or below.passkey,
                per,
                max(below.cool_off, tier.cool_off),
            )


def policies_of(kinds: Mapping[str, str]) -> type[Policies]:
    """The table `[policy]` with a table for each of `kinds`: its name, and its checkbox to be sent at once or ""."""
    fields: dict[str, Any] = {}
    for kind, run_now in kinds.items():
        rule = _now_rule(run_now) if run_now else Rule
        described = f"The policy of `{kind}`; what it does not set comes from `policy.default`"
        fields[kind] = (rule, Field(default_factory=rule, description=described))
    return create_model("PoliciesByKind", __base__=Policies, **fields)
