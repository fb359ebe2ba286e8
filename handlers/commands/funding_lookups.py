"""`/funding`: the look-ups about funding of the float."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.partner.models import NETWORKS
from bot.services.money import funding_lookups
from handlers.commands.lookup import Asking, LookUp, NotUnderstood
from handlers.views import Block
from handlers.views.lookups import funding

# As people call a status -> the submissions it fits. One that is neither credited, in review nor rejected is pending.
_STATUSES = {
    "in review": "review",
    "review": "review",
    "rejected": "rejected",
    "credited": "credited",
    "pending": "pending",
}


async def _list(asked: Asking) -> Block:
    head, period = asked.period()
    status, network = _narrowed(head)
    found = await funding_lookups.funding_list(
        asked.core, program=asked.program, status=_STATUSES.get(status, ""), network=network, period=period
    )
    about = ", ".join(filter(None, (status, network, period.in_words() if period else "")))
    named = " ".join(filter(None, (status, network, period.named if period else "")))
    again = " ".join(filter(None, ("funding list", named, asked.program)))
    return funding.funding_list(found, asked.program, again, asked.page, about)


def _narrowed(head: str) -> tuple[str, str]:
    """The status and the network that are named. Raises NotUnderstood for any other word."""
    words = " ".join(head.lower().split())
    status = next((one for one in _STATUSES if f" {one} " in f" {words} "), "")
    left = f" {words} ".replace(f" {status} ", " ").split() if status else words.split()
    network = next((one for one in NETWORKS if one.lower() in left), "")
    other = [word for word in left if word != network.lower()]
    if other:
        raise NotUnderstood(
            f"“{other[0][:40]}” isn't a status, a network or a period. Write for example /funding list in review,"
            " or /funding list BNB last month."
        )
    return status, network


async def _show(asked: Asking) -> Block:
    if not asked.rest:
        raise NotFound("Name the submission: /funding show ID-OR-HASH. /funding list shows them.")
    found = await funding_lookups.funding_show(asked.core, asked.rest.split()[0], program=asked.program)
    link = await asked.link_to(found.request_id) if found.request_id else ""
    return funding.funding_answer(found, link)


async def _addresses(asked: Asking) -> Block:
    found = await funding_lookups.funding_addresses(asked.core, program=asked.program)
    wanted = asked.rest.upper()
    if wanted and wanted not in {one.network for one in found}:
        raise NotFound(
            f"There is no funding address on “{asked.rest[:40]}”, only on {', '.join(one.network for one in found)}."
        )
    return funding.addresses([one for one in found if wanted in ("", one.network)])


LOOK_UPS = (
    LookUp(
        ("funding", "list"),
        _list,
        "/funding list [STATUS] [NETWORK] [PERIOD]",
        "submissions and where they stand, stuck ones first",
        shared=True,
    ),
    LookUp(
        ("funding", "show"),
        _show,
        "/funding show ID-OR-HASH",
        "one submission, its reason in plain words",
        shared=True,
    ),
    # Never shared: a copy in a channel would be an address that somebody remembers.
    LookUp(("funding", "addresses"), _addresses, "/funding addresses [NETWORK]", "where to send, read live"),
)
