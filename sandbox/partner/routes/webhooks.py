"""GET and PUT /webhook: the endpoint of an account (Webhooks and events)."""

from __future__ import annotations

from sandbox.partner import codec
from sandbox.partner.calls import Call, Operation
from sandbox.partner.events import event_log, webhook_urls, webhooks
from sandbox.partner.http import Answer
from sandbox.partner.schemas import read_body, request_schemas, response_schemas
from sandbox.partner.state import stamp_now


async def read_webhook(call: Call) -> Answer:
    """GET /webhook: null before the first PUT; the secret is never shown again."""
    found = webhooks.find(call.world, call.account_id)
    shown = found and {"url": found.url, "active": True, "updated_at": found.updated_at}
    return Answer.of({"webhook": shown})


async def change_webhook(call: Call) -> Answer:
    """PUT /webhook: a secret comes with the first endpoint, with another one, and with rotate: true."""
    url = webhook_urls.normalized(read_body(request_schemas.WEBHOOK_BODY, call.request.body)["url"])
    rotate = codec.decode(call.request.body or b"{}").get("rotate") is True
    earlier = webhooks.find(call.world, call.account_id)
    renewed = earlier is None or earlier.url != url or rotate
    secret = call.world.ids.webhook_secret() if renewed or earlier is None else earlier.secret
    with call.world.store.transaction():
        call.world.store.run(
            "INSERT INTO webhooks VALUES (?, ?, ?, ?) ON CONFLICT (account) DO UPDATE"
            " SET url = excluded.url, secret = excluded.secret, updated_at = excluded.updated_at",
            call.account_id,
            url,
            secret,
            stamp_now(call.world),
        )
        if earlier is None:
            event_log.queue_waiting(call.world, call.account_id)
    note = "Store the secret now; it is not shown again." if renewed else "The secret is unchanged."
    return Answer.of({"webhook": {"url": url}, "secret": secret if renewed else None, "note": note})


OPERATIONS = (
    Operation("GET", "/webhook", "users:read", read_webhook, response_schemas.WEBHOOK_ANSWER),
    Operation(
        "PUT",
        "/webhook",
        "users:write",
        change_webhook,
        response_schemas.WEBHOOK_CHANGED,
        body=request_schemas.WEBHOOK_BODY,
        codes={400: ("BAD_REQUEST",)},
    ),
)
