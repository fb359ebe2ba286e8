"""What people may do here, and who decides: help, policy, who."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.money import format_usd
from bot.domain.people import SUM_WORDS, Tier
from bot.domain.time import in_words
from bot.view_models import DelegationView, PolicyRow, PolicyView, WhoView
from handlers.views import blocks as b
from handlers.views import ids


def policy(found: PolicyView) -> b.Block:
    """The policy in words, as the reviewed file says it."""
    rows = [(r.title, _needed(r), r.expires) for r in found.rows]
    names = [
        ("May request", ", ".join(found.requesters) or "every full member of this workspace"),
        ("May approve", ", ".join(found.approvers) or "nobody"),
        ("Admins", ", ".join(found.admins) or "the approvers"),
    ]
    blocks = [b.header("Who decides what"), *b.pairs(names)]
    blocks.append(b.table(("Operation", "Approvals, not counting the requester", "Expires after"), rows))
    if found.limits:
        blocks.append(b.section("*Most in any 24 hours*"))
        blocks += b.pairs(found.limits)
    blocks += [b.context(_delegation(d)) for d in found.delegations[:10]]
    blocks += [
        b.context(f"*{label}* is sent without an approval; a second person confirms or undoes it.")
        for label in dict.fromkeys(row.run_now for row in found.rows if row.run_now)
    ]
    blocks.append(b.context(f"From countersign.toml, version {b.esc(found.version[:12])}."))
    return b.message("Who decides what", blocks)


def _delegation(found: DelegationView) -> str:
    begins = "" if found.in_force else f" from {b.when(found.since)}"
    return (
        f"*{b.esc(found.delegate)}* decides in place of {b.esc(found.away)}{begins} until"
        f" {b.when(found.until)}: {b.esc(b.cut(found.reason, 300))} The two count as one person."
    )


def _needed(row: PolicyRow) -> str:
    numbers = [str(row.approvals), *map(_tier, row.tiers)]
    if row.passkey_above_usd is not None:
        above = row.passkey_above_usd
        numbers.append(f"with a passkey above {format_usd(above)}" if above else "with a passkey")
    if row.cool_off:
        numbers.append(f"sent {in_words(row.cool_off)} later")
    return "; ".join(numbers)


def _tier(tier: Tier) -> str:
    """`2 above 500.00 USD for one card in 24 hours`"""
    waits = f", sent {in_words(tier.cool_off)} later" if tier.cool_off else ""
    return f"{tier.approvals} above {format_usd(tier.above_usd)}{SUM_WORDS[tier.per]}{waits}"


def _able(found: WhoView, person: str) -> str:
    away = ", ".join(b.mention(p) for p in found.in_place_of.get(person, ()))
    return f"{b.mention(person)} (in place of {away})" if away else b.mention(person)


def who(found: WhoView) -> b.Block:
    """Who could approve it, were this person to ask now."""
    able = ", ".join(_able(found, p) for p in found.able[:30])
    names = ", ".join(b.esc(n) for n in found.names)
    needed = b.counted(found.approvals, "approval")
    text = (
        f"*{b.esc(found.title)}*, requested by {b.mention(found.requester)}, needs {needed} from {names}. The"
        " requester's own does not count."
    )
    if found.tiers:
        text += f" It needs {'; '.join(map(_tier, found.tiers))}."
    if found.granted_usd is not None:
        text += (
            f" {b.mention(found.requester)} was granted {format_usd(found.granted_usd)} in the last 24 hours."
        )
    now = f"Can approve now: {able}." if able else "*▲ Right now nobody can approve it.*"
    return b.message(
        f"{b.esc(found.title)} needs {needed}",
        [b.section(text), b.section(now)],
    )


@dataclass(frozen=True, slots=True)
class Use:
    """One subcommand that a person may use: `name` is command and subcommand, `usage` what follows the command.

    `group` is the heading it stands under; `example` the whole as typed, with CARD or 4242 for a card; `help` says
    what it does.
    """

    name: tuple[str, str]
    group: str
    usage: str
    example: str
    help: str


_CARD = re.compile(r"\b(?:CARD|4242)\b")
_NAMING = "Name a card by its last four digits, a name or a reference."


def help_answer(uses: Sequence[Use], *, may_ask: bool, may_decide: bool, more: str) -> b.Block:
    """What this person may do, a line for each group; `more` is the command of the button for examples."""
    role = "You can make requests" if may_ask else "You can look things up, but you can't request anything"
    role += " and decide on the requests of others." if may_decide else "."
    lines = [
        f"`/{b.esc(command)}` {b.esc(group)}: {' · '.join(f'`{b.esc(use.usage)}`' for use in shown)}"
        for (command, group), shown in _grouped(uses).items()
    ]
    blocks = [b.section(role), b.section("\n".join(lines)), b.context(_NAMING)]
    return b.message(role, [*blocks, b.actions([b.button("More", ids.LOOK, ids.typed(more))])])


def _grouped(uses: Sequence[Use]) -> dict[tuple[str, str], list[Use]]:
    found: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        found.setdefault((use.name[0], use.group), []).append(use)
    return found


def examples(uses: Sequence[Use], card: str, may_decide: bool, programs: Sequence[str]) -> b.Block:
    """Each subcommand as it may be typed, about `card` (last four digits, or empty), and what it does."""
    text = "Examples, and what each does"
    by_command: dict[str, list[str]] = {}
    for use in uses:
        typed = _CARD.sub(card or "CARD", use.example)
        by_command.setdefault(use.name[0], []).append(f"`{b.esc(typed)}` {b.esc(use.help)}")
    blocks = [b.section(f"*{text}*"), *(b.section("\n".join(lines)) for lines in by_command.values())]
    if may_decide:
        blocks.append(
            b.context("Approve and Reject are on the request in the approvals channel, and on Home.")
        )
    if len(programs) > 1:
        names = ", ".join(b.esc(name) for name in programs)
        blocks.append(
            b.context(
                f"To look at another program, name it last: `/float {b.esc(programs[1])}`. Programs: {names}."
            )
        )
    said = f"@Countersign card show {card or 'CARD'}"
    blocks.append(
        b.context(f"Everything also works as `{said}` in a channel or thread, and in a direct message.")
    )
    return b.message(text, blocks)


def not_understood(wrong: str, meant: str, command: str) -> b.Block:
    """Three lines: what is wrong, what was probably meant (`card topup`, or empty), how to get help."""
    lines = [b.said(wrong), f"Did you mean `/{b.said(meant)}`?" if meant else ""]
    lines.append(f"`/{b.esc(command)} help` shows what you can do.")
    return b.message(b.said(wrong), [b.section("\n".join(filter(None, lines)))])
