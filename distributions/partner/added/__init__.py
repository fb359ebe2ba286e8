"""Typed client of the Card Issuing Partner API, asynchronous and synchronous, that says how certain an error is.

    PartnerClient, SyncPartnerClient   a method for each call of the API
    errors, Certainty                  what can go wrong, and what an error proves
    verify, unwrap                     webhook deliveries: is one genuine, and what does it say
    models                             what the calls answer
    testing                            both clients on the simulator, for tests (extra `testing`)

The package is a part of Countersign, which uses it for every call it makes.
"""

from countersign_partner import errors, models, webhooks
from countersign_partner.certainty import Certainty
from countersign_partner.client import PartnerClient
from countersign_partner.errors import PartnerError
from countersign_partner.key_guard import AccessRefused
from countersign_partner.ratelimit import Lane, RateLimiter
from countersign_partner.secret import Secret
from countersign_partner.synchronous import SyncPartnerClient
from countersign_partner.webhooks import Delivery, DeliveryRefused, unwrap, verify

__all__ = [
    "AccessRefused",
    "Certainty",
    "Delivery",
    "DeliveryRefused",
    "Lane",
    "PartnerClient",
    "PartnerError",
    "RateLimiter",
    "Secret",
    "SyncPartnerClient",
    "errors",
    "models",
    "unwrap",
    "verify",
    "webhooks",
]
