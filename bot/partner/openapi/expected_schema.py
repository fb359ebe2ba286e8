"""What this client knows of the API beside its endpoints, which say themselves what goes out and comes back.

`drift` holds both against the description that the card provider publishes.
"""

from bot.partner import models
from bot.partner.calls import account as account_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.models import events as typed
from bot.partner.shapes import Shape, shape_of

VERSION = "1.0.0"
"""Of the published description [Versioning]."""

UNSHOWN = frozenset({account_calls.FUNDING_LIST, deposit_calls.QUOTE_DEPOSIT, deposit_calls.DEPOSITS})
"""Endpoints whose envelope, query or body the document does not show, and the client does not rely on."""


def event_data() -> dict[str, Shape]:
    """What must be under `data` of each event, by its type."""
    known: dict[str, type[models.Answer]] = {
        "card.authorized": typed.Authorization,
        "card.transaction": typed.LaterLeg,
        "card.declined": typed.Decline,
        "card.unloaded": typed.CardHint,
        "card.status_changed": typed.StatusChange,
        models.CHALLENGE: typed.Challenge,
        "float.credited": typed.FloatCredit,
    }
    return {name: shape_of(model) for name, model in known.items()}
