"""What a kind of operation may declare, and what every kind has that says nothing otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from bot import operations
from bot.domain.errors import InvalidFields, InvalidInput, NotFound
from bot.operations import Concern, Operation
from bot.operations._base import Batch, Others, Sought, nobody_else
from bot.operations._facts import float_after, loaded_facts, stored_facts
from bot.operations._fields import Field
from bot.operations.readers import REASON_LIMIT, public_url, read_reason
from bot.operations.value_types import CARD_ID, TICKED, USD
from bot.partner.client import ENDPOINTS

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def declare(**members: Any) -> type[Operation]:
    return type("Odd", (Operation,), {"kind": "odd", "title": "Odd", **members})


def test_a_title_fits_the_head_of_a_modal() -> None:
    declare(title="x" * 24)
    with pytest.raises(TypeError, match="24 characters"):
        declare(title="x" * 25)


def test_two_fields_of_a_form_have_two_labels() -> None:
    declare(one=Field("One", USD), other=Field("Other", USD))
    with pytest.raises(TypeError, match="one label"):
        declare(one=Field("Amount", USD), other=Field("Amount", USD))


def test_a_field_has_one_name() -> None:
    shared: Field[Any] = Field("Amount", USD)
    declare(amount_usd=shared)
    declare(amount_usd=shared)
    with pytest.raises((TypeError, RuntimeError)) as refused:
        declare(another_usd=shared)
    assert "by another name" in f"{refused.value} {refused.value.__cause__}"


def test_of_the_class_a_field_is_the_field_and_an_operation_without_its_value_says_so() -> None:
    odd = declare(amount_usd=Field("Amount", USD), __abstractmethods__=frozenset())
    assert isinstance(cast(Any, odd).amount_usd, Field)
    odd.__abstractmethods__ = frozenset()
    with pytest.raises(AttributeError, match="amount_usd"):
        str(cast(Any, odd({})).amount_usd)


def test_what_is_typed_is_kept_as_its_type_writes_it_and_a_card_as_it_was_typed() -> None:
    assert Field("Amount", USD).canonical("50") == USD.store(Decimal(50))
    assert Field("Card", CARD_ID).canonical("Alice ••3205") == "Alice ••3205"
    with pytest.raises((ValueError, InvalidInput)):
        Field("Amount", USD).canonical("fifty")
    with pytest.raises(TypeError, match="directory"):
        CARD_ID.read("3205")


@pytest.mark.parametrize("text", ["no", "YES", "", "1"])
def test_a_box_is_ticked_by_one_word_alone(text: str) -> None:
    assert TICKED.read("yes") is True
    with pytest.raises(ValueError, match="Tick"):
        TICKED.read(text)


def test_a_kind_that_takes_no_list_says_so_and_one_that_does_has_one() -> None:
    for cls in operations.kinds().values():
        if cls.batch is not None:
            assert cls.of_many() is cls.batch
        else:
            with pytest.raises(NotFound, match="in a list"):
                cls.of_many()


def test_what_is_missing_or_wrong_in_a_form_is_said_beside_its_field_all_at_once() -> None:
    for cls in operations.kinds().values():
        needed = [field for field in cls.fields if not field.optional]
        if not needed:
            assert cls.parse({}) == {}
            continue
        with pytest.raises(InvalidFields) as refused:
            cls.parse({})
        missing = {f.name: f.missing or f"{f.label} is missing." for f in needed}
        assert missing.items() <= refused.value.errors.items(), cls.kind


async def test_where_a_kind_asks_of_nobody_else_nothing_is_taken() -> None:
    assert await nobody_else() == Others()


@pytest.mark.parametrize(("seconds", "may"), [(-3600, False), (0, True), (30, True), (24 * 3600, False)])
def test_only_what_was_made_about_when_a_call_was_sent_may_be_of_it(seconds: int, may: bool) -> None:
    sought = Sought(key="k1", since=AT, last_sent_at=AT + timedelta(seconds=60))
    assert sought.may_have_made(AT + timedelta(seconds=seconds)) is may
    assert sought.ledger_since < AT


def test_a_list_of_rows_keeps_what_its_rows_say_and_a_cap_that_is_none_stays_none() -> None:
    class Odds(Batch):
        headers: ClassVar[Any] = {}
        examples: ClassVar[Any] = ()

        def summary(self, cards: str, total_usd: Decimal) -> str:
            return cards

        def lines(self, rows: int, total_usd: Decimal, facts: Any) -> Any:
            return []

    concern = Concern("It is frozen.")
    assert Odds().concerns(2, Decimal(0), {}, [concern]) == [concern]


@pytest.mark.parametrize(("limit", "left"), [(None, None), (10, 3)])
async def test_of_the_account_a_list_needs_the_float_and_how_many_cards_are_left(
    limit: int | None, left: int | None
) -> None:
    class Partner:
        async def me(self) -> Any:
            return SimpleNamespace(
                float=SimpleNamespace(available_usd=Decimal(5)), cards=SimpleNamespace(limit=limit, total=7)
            )

    batches = {cls.batch for cls in operations.kinds().values() if cls.batch is not None}
    plain = [batch for batch in batches if type(batch).account is Batch.account]
    assert plain
    for batch in plain:
        found = await batch.account(cast(Any, Partner()))
        assert found == {"float_available_usd": Decimal(5), "allowance_left": left}


def test_facts_are_stored_as_text_and_loaded_as_they_were() -> None:
    facts = {
        "float_available_usd": Decimal("1.10"),
        "markup_fraction": Decimal("0.015"),
        "n": 3,
        "none_usd": None,
    }
    stored = stored_facts(facts)
    assert not any(isinstance(value, Decimal) for value in stored.values())
    assert loaded_facts(stored) == facts


def test_the_float_afterwards_is_said_with_its_currency() -> None:
    assert float_after(Decimal("1234.5")) == "The float is 1,234.50 USD now."


def test_each_kind_is_found_by_the_call_it_makes_and_by_the_status_it_leaves_its_card_in() -> None:
    kinds = operations.kinds()
    for kind, cls in kinds.items():
        assert kind in operations.asking(kinds, cls.endpoint)
        assert kind not in operations.asking(kinds, next(e for e in ENDPOINTS if e is not cls.endpoint))
        assert (kind in operations.leaving(kinds, "FROZEN", "DELETED")) is (
            cls.leaves_card in ("FROZEN", "DELETED")
        )


def test_a_kind_that_another_version_knows_has_the_plain_words_for_doing_it_at_once() -> None:
    labels = {kind: operations.run_now_label(kind) for kind in [*operations.kinds(), "who_knows"]}
    plain = labels.pop("who_knows")
    assert plain
    assert labels == {kind: cls.handling.run_now or plain for kind, cls in operations.kinds().items()}


def test_what_is_read_live_has_no_facts_of_a_last_reading() -> None:
    for cls in operations.kinds().values():
        if cls.facts_of_last_reading is not Operation.facts_of_last_reading:
            continue
        operation = object.__new__(cls)
        with pytest.raises(NotImplementedError, match="live"):
            operation.facts_of_last_reading(None, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://hooks.example.com/in", "form"),
        ("https:///in", "form"),
        ("https://hooks.example.com/a b", "form"),
        ("https://hooks.example.com/\x07", "form"),
        ("https://hooks.example.com:99999/", "form"),
        ("https://[::1", "form"),
        ("https://user@hooks.example.com/", "names"),
        ("https://hooks.example.com/#x", "#"),
        ("https://hooks.localhost/", "public names"),
        ("https://127.1/", "public names"),
        ("https://[2606:4700::1]/", "public names"),
        (f"https://hooks.example.com/{'x' * 3000}", "characters"),
    ],
)
def test_an_address_that_the_provider_cannot_reach_or_should_not_know_is_refused(
    text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        public_url(text)


def test_an_address_on_the_internet_is_taken_as_it_is_written() -> None:
    assert public_url("https://hooks.example.com/in?a=1") == "https://hooks.example.com/in?a=1"


def test_a_reason_is_as_long_as_fits_and_no_longer() -> None:
    assert read_reason("x" * REASON_LIMIT) == "x" * REASON_LIMIT
    with pytest.raises(ValueError, match=str(REASON_LIMIT + 1)):
        read_reason("x" * (REASON_LIMIT + 1))
