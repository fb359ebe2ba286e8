"""What people may do here, and who decides: help, policy, who."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.money import format_usd
from bot.operations import Operation
from bot.view_models import DelegationView, PolicyRow, PolicyView, WhoView
from handlers.views import blocks as b


def policy(found: PolicyView) -> b.Block:
    """The policy in words, as the reviewed file says it."""
    rows = [(r.title, _needed(r), r.expires) for r in found.rows]
    names = [
        ("May ask", ", ".join(found.requesters) or "every full member of this workspace"),
        ("May approve", ", ".join(found.approvers) or "nobody"),
        ("Admins", ", ".join(found.admins) or "the approvers"),
    ]
    blocks = [b.header("Who decides what"), *b.pairs(names)]
    blocks.append(b.table(("Operation", "Approvals, not counting the requester", "Waits"), rows))
    if found.limits:
        blocks.append(b.section("*Most in any 24 hours*"))
        blocks += b.pairs(found.limits)
    blocks += [b.context(_delegation(d)) for d in found.delegations[:10]]
    if any(r.run_now for r in found.rows):
        blocks.append(
            b.context("*Freeze now* is sent without an approval; a second person confirms or undoes it.")
        )
    blocks.append(b.context(f"From the reviewed countersign.toml, version {b.esc(found.version[:12])}."))
    return b.message("Who decides what", blocks)


def _delegation(found: DelegationView) -> str:
    begins = "" if found.in_force else f" from {b.when(found.since)}"
    return (
        f"*{b.esc(found.delegate)}* decides in the place of {b.esc(found.away)}{begins} until"
        f" {b.when(found.until)}: {b.esc(b.cut(found.reason, 300))} The two count as one person."
    )


def _needed(row: PolicyRow) -> str:
    return "; ".join([str(row.approvals), *(f"{n} above {format_usd(above)}" for above, n in row.tiers)])


def _able(found: WhoView, person: str) -> str:
    away = ", ".join(b.mention(p) for p in found.in_place_of.get(person, ()))
    return f"{b.mention(person)} (in the place of {away})" if away else b.mention(person)


def who(found: WhoView) -> b.Block:
    """Who could approve it, were this person to ask now."""
    able = ", ".join(_able(found, p) for p in found.able[:30])
    names = ", ".join(b.esc(n) for n in found.names)
    needed = b.counted(found.approvals, "approval")
    text = (
        f"*{b.esc(found.title)}* requested by {b.mention(found.requester)} needs {needed} of"
        f" {names}, and never the requester's own."
    )
    now = f"Right now these can give one: {able}." if able else "*▲ Right now nobody could approve it.*"
    return b.message(
        f"{b.esc(found.title)} needs {needed}",
        [b.section(text), b.section(now)],
    )


def help_answer(
    kinds: Mapping[str, type[Operation]],
    reads: Mapping[str, Sequence[tuple[str, str]]],
    *,
    may_ask: bool,
    may_decide: bool,
    note: str = "",
    programs: Sequence[str] = (),
) -> b.Block:
    """What this person may do. `reads` = look-ups by command, as typed and what they say; `note` = what was not
    understood."""
    role = "You may ask for operations" if may_ask else "You may look things up, but not ask for operations"
    role += " and decide on those of others." if may_decide else "."
    blocks = [b.section(b.esc(note))] if note else []
    blocks.append(b.section(role))
    for command, rows in reads.items():
        lines = list(rows)
        if may_ask:
            lines = [(k.example, k.help) for k in kinds.values() if k.command[0] == command] + lines
        blocks.append(b.section("\n".join(f"`{b.esc(example)}` {b.esc(text)}" for example, text in lines)))
    if may_decide:
        blocks.append(
            b.context("Approve and Reject are on the request in the approvals channel, and on Home.")
        )
    if len(programs) > 1:
        names = ", ".join(b.esc(name) for name in programs)
        blocks.append(
            b.context(f"Name a program last to look at another one: `/float {b.esc(programs[1])}`. {names}.")
        )
    blocks.append(
        b.context(
            "Name a card by last four digits, name, reference or id. All of it works as"
            " `@Countersign card show 4242` and in a direct message, too."
        )
    )
    return b.message((note and b.esc(note)) or role, blocks)
