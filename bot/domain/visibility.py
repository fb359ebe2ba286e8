"""Who may see what, once someone is a full member of the workspace (`bot.domain.actors`).

| What                                                       | Who                                        |
|---|---|
| requests, cards, purchases, the float; private values masked | every full member                        |
| the private values of a request that waits, in full        | an approver whose decision it waits for    |
| the details of a card (number, expiry, security code)      | the person who asked for them, once        |
| a form that was filled and not submitted                   | its owner                                  |
| who gets the one-time codes of which reference             | admins                                     |
| an export                                                  | approvers and admins                       |

Pure: who is what is read from Slack by the caller, at this moment.
"""

from __future__ import annotations

from collections.abc import Collection

from bot.domain.delegation import Standing
from bot.domain.requests import Request, State


def waits_for(person: str, request: Request, approved_by: Collection[str], standing: Standing) -> bool:
    """Does a request wait for this person's decision? `approved_by`: those who approved it already.

    It does while it is pending, for an approver who is neither the requester nor one who approved it, nor
    counts as one person with any of them.
    """
    if request.state is not State.PENDING or person not in standing.approvers:
        return False
    return not any(standing.are_one(person, other) for other in (request.requester, *approved_by))


def may_see_private_values(
    person: str, request: Request, approved_by: Collection[str], standing: Standing
) -> bool:
    return waits_for(person, request, approved_by, standing)


def may_see_card_details(person: str, request: Request) -> bool:
    return person == request.requester


def may_see_form(person: str, owner: str) -> bool:
    return person == owner


def may_see_code_receivers(person: str, admins: Collection[str]) -> bool:
    return person in admins


def may_export(person: str, approvers: Collection[str], admins: Collection[str]) -> bool:
    return person in approvers or person in admins
