"""Who may see what, once someone is a full member of the workspace (`bot.domain.people.actors`).

| What                                                       | Who                                        |
|---|---|
| requests, cards, purchases, the float; private values masked | every full member                        |
| the private values of a request that waits, in full        | an approver whose decision it waits for    |
| the details of a card (number, expiry, security code)      | the person who asked for them, once        |
| a form that was filled and not submitted                   | its owner                                  |
| who gets the one-time codes of which reference             | admins                                     |
| an export                                                  | approvers and admins                       |

Pure: who is what is read from Slack by the caller, now. What goes by a role alone (the last two rows) is
refused by `bot.services.people.require_role`.
"""

from __future__ import annotations

from collections.abc import Collection

from bot.domain.people import Standing
from bot.domain.requests import Request, State, why_not_second


def waits_for(person: str, request: Request, approved_by: Collection[str], standing: Standing) -> bool:
    """Does a request wait for this person's decision? `approved_by`: those who approved it already.

    It does while it is pending, for whoever may still act as its second person.
    """
    if request.state is not State.PENDING:
        return False
    asked_by = request.requester
    return why_not_second(person, asked_by=asked_by, standing=standing, earlier=approved_by) is None


def may_see_private_values(
    person: str, request: Request, approved_by: Collection[str], standing: Standing
) -> bool:
    return waits_for(person, request, approved_by, standing)


def may_see_card_details(person: str, request: Request) -> bool:
    return person == request.requester


def may_see_form(person: str, owner: str) -> bool:
    return person == owner
