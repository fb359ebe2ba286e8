"""The served OpenAPI says what the document says: who may call, what a field may hold, what an error carries."""

from typing import Any

import pytest

from sandbox.partner.openapi import document

DESCRIBED = document.document()
SCHEMAS: dict[str, Any] = DESCRIBED["components"]["schemas"]


def operations() -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in DESCRIBED["paths"].items()
        for method, operation in methods.items()
    }


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """The node that a reference leads to."""
    while "$ref" in node:
        found: Any = DESCRIBED
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def test_only_me_is_declared_for_the_key_header_alone() -> None:
    """P2."""
    for name, operation in operations().items():
        wanted: list[dict[str, list[str]]] = (
            [{"key": []}] if name == "GET /me" else [{"key": []}, {"bearer": []}]
        )
        assert operation["security"] == wanted, name


def test_a_rate_limited_answer_has_retry_after_sixty_and_too_many_pending_has_not() -> None:
    """P3."""
    for name, operation in operations().items():
        answer = resolved(operation["responses"]["429"])
        header = resolved(answer["headers"]["Retry-After"])
        assert header["schema"]["const"] == 60, name
        assert resolved(header).get("required", False) is (name != "POST /funding"), name


ENUMS = {
    "DeclineReason.code": 14, "FundingSubmission.network": 3, "FundingSubmission.token": 3,
    "FundingSubmission.reason": 27, "LedgerEntry.kind": 5, "FundingBody.network": None, "Error.code": 17,
    "FundingAddress.network": 3, "ThreeDsBody.method": 1, "ThreeDs.three_ds_method": 1, "Key.scopes": None,
}  # fmt: skip


@pytest.mark.parametrize("name", ENUMS)
def test_a_closed_list_is_described_as_one(name: str) -> None:
    """P4."""
    table, field = name.split(".")
    found = SCHEMAS[table]["properties"][field]
    if name == "FundingBody.network":
        assert (
            found["pattern"] == "^([Pp][Oo][Ll][Yy][Gg][Oo][Nn]|[Bb][Nn][Bb]|[Bb][Ss][Cc]|[Bb][Aa][Ss][Ee])$"
        )
        return
    found = found["items"] if name == "Key.scopes" else found
    assert len(found["enum"]) == (ENUMS[name] or 7)


BOUNDS = {
    "FundingBody.tx_hash": {"pattern": "^0[xX][0-9a-fA-F]{64}$"},
    "FundingSubmission.tx_hash": {"pattern": "^0x[0-9a-f]{64}$"},
    "OrderBody.phone": {"pattern": "^[0-9]{4,15}$"},
    "PhoneBody.phone": {"pattern": "^[0-9]{4,15}$"},
    "OrderBody.card_holder_name": {"minLength": 1},
    "OrderBody.email": {"minLength": 3},
    "OrderBody.partner_ref": {"maxLength": 128},
    "WebhookBody.url": {"maxLength": 2000, "pattern": "^[hH][tT][tT][pP][sS]://"},
    "BalancesBody.card_ids": {"maxItems": 1000, "uniqueItems": True},
    "TopUpBody.amount_usd": {"multipleOf": 0.01, "minimum": 0.01},
    "UnloadBody.amount_usd": {"multipleOf": 0.01, "exclusiveMinimum": 0},
    "LimitsBody.daily_limit": {"multipleOf": 0.01, "exclusiveMinimum": 0},
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_the_documents_and_none_is_made_up(name: str) -> None:
    """P4: what the simulator adds for its own sake is not marked as coming from the document."""
    table, field = name.split(".")
    found = SCHEMAS[table]["properties"][field]
    said = {
        key: float(value) if not isinstance(value, str | bool | int) else value
        for key, value in found.items()
        if key not in ("type", "description", "items", "examples") and not key.startswith("x-")
    }
    assert said == BOUNDS[name]


def test_limits_need_at_least_one_field() -> None:
    assert SCHEMAS["LimitsBody"]["minProperties"] == 1
