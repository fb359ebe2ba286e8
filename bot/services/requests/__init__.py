"""A request from its form to its decision: draft, preview, submit, approve, reject, cancel, verify; batches of them.

Everything that changes a request is one transaction with its audit entry and its Slack messages. Nothing in this
room calls the API to change something: `bot.services.execution` does.
"""

from bot.services.requests.drafts import Preview, on_target, resolve_card
from bot.services.requests.lifecycle import (
    FIRST_REMINDER,
    cancel,
    close,
    existing,
    existing_as_on_record,
    expire_due,
    remind_due,
    require_own,
    submit,
)
from bot.services.requests.request_lookups import Pending
from bot.services.requests.signatures import (
    approved_by,
    body_mac,
    digest_of,
    given,
    has_its_body,
    has_its_digest,
    resolved_as,
)
from storage.requests import Draft

__all__ = [
    "FIRST_REMINDER",
    "Draft",
    "Pending",
    "Preview",
    "approvals",
    "approved_by",
    "batch_approval",
    "batch_reading",
    "batch_results",
    "batch_rows",
    "batch_submission",
    "body_mac",
    "cancel",
    "close",
    "digest_of",
    "drafts",
    "existing",
    "existing_as_on_record",
    "expire_due",
    "given",
    "granted_sums",
    "has_its_body",
    "has_its_digest",
    "local_facts",
    "on_target",
    "remind_due",
    "request_lookups",
    "require_own",
    "resolve_card",
    "resolved_as",
    "signatures",
    "submit",
    "verification",
    "view_models",
]
