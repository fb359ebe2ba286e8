"""Triggers, modals and home tabs, with the real Bolt app."""

from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage, amount_input, button, modal, text

Json = dict[str, Any]


class Form:
    """A Bolt app whose `/card` opens a modal, and whose submission answers what the test says."""

    def __init__(self, *blocks: Json, **view: Any) -> None:
        self.view = modal(*(blocks or (amount_input(),)), **view)
        self.answer: Json = {}
        self.submitted: list[Json] = []
        self.closed: list[Json] = []
        self.clicked: list[Json] = []
        self.options: Json = {"options": []}
        self.triggers: list[str] = []

    def wire(self, app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, body: Json, client: Any) -> None:
            self.triggers.append(body["trigger_id"])
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=self.view)

        @app.view("form")
        async def submit(ack: Any, body: Json) -> None:
            self.submitted.append(body)
            await ack(**self.answer)

        @app.view_closed("form")
        async def closed(ack: Any, body: Json) -> None:
            self.closed.append(body)
            await ack()

        @app.action("more")
        async def more(ack: Any, body: Json, client: Any) -> None:
            self.clicked.append(body)
            await ack()
            await client.views_push(trigger_id=body["trigger_id"], view=self.view)

        @app.options("pick")
        async def pick(ack: Any) -> None:
            await ack(**self.options)


async def _opened(stage: Stage, user: str = "U0ALICE") -> Json:
    """Open the form as this person and answer the view they see."""
    await stage.act("command", user=user, channel="C0OPS", text="/card")
    view: Json = (await stage.see(user))["views"][-1]
    return view


async def _submit(stage: Stage, view: Json, user: str = "U0ALICE", **values: Any) -> Json:
    return await stage.act("submit", user=user, view_id=view["id"], values=values)


async def test_a_submission_carries_every_input_and_closes_the_view(make_stage: MakeStage) -> None:
    note = {
        "type": "input", "block_id": "note", "optional": True, "label": text("Note"),
        "element": {"type": "plain_text_input", "action_id": "value", "initial_value": "as usual"},
    }  # fmt: skip
    form = Form(amount_input(), note)
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    outcome = await _submit(stage, view, amount={"value": "50"})

    assert outcome["acked"]
    assert outcome["response_action"] is None
    assert form.submitted[0]["view"]["state"]["values"] == {
        "amount": {"value": {"type": "plain_text_input", "value": "50"}},
        "note": {"value": {"type": "plain_text_input", "value": "as usual"}},
    }
    assert (await stage.see("U0ALICE"))["views"] == []


async def test_the_client_checks_required_and_lengths_before_the_app_sees_it(
    make_stage: MakeStage,
) -> None:
    form = Form(amount_input(min_length=2, max_length=4))
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    complaints = [(await _submit(stage, view, amount={"value": given})) for given in (None, "1", "12345")]

    assert all(one["client_side"] and not one["acked"] for one in complaints)
    assert [one["errors"]["amount"] for one in complaints] == [
        "Please complete this required field.",
        "Please enter at least 2 characters.",
        "Please enter no more than 4 characters.",
    ]
    assert form.submitted == []


async def test_errors_stay_on_the_view_and_update_gives_it_a_new_hash(make_stage: MakeStage) -> None:
    form = Form()
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    form.answer = {"response_action": "errors", "errors": {"amount": "That is not an amount."}}
    refused = await _submit(stage, view, amount={"value": "x"})
    form.answer = {"response_action": "update", "view": modal(button("more"), title=text("Preview"))}
    updated = await _submit(stage, view, amount={"value": "5"})
    [shown] = (await stage.see("U0ALICE"))["views"]

    assert refused["errors"] == {"amount": "That is not an amount."}
    assert updated["view_id"] == shown["id"] == view["id"]
    assert shown["title"]["text"] == "Preview"
    assert shown["hash"] != view["hash"]


async def test_errors_for_a_block_that_is_no_input_are_refused(make_stage: MakeStage) -> None:
    form = Form()
    form.answer = {"response_action": "errors", "errors": {"elsewhere": "No."}}
    stage = await make_stage(wire=form.wire)
    outcome = await _submit(stage, await _opened(stage), amount={"value": "5"})

    assert outcome["refused"]["error"] == "invalid_errors"
    assert len((await stage.see("U0ALICE"))["views"]) == 1


async def test_an_invalid_view_in_an_ack_is_refused_and_the_view_stays(make_stage: MakeStage) -> None:
    form = Form()
    form.answer = {"response_action": "update", "view": modal(amount_input(), title=text("x" * 25))}
    stage = await make_stage(wire=form.wire)
    outcome = await _submit(stage, await _opened(stage), amount={"value": "5"})

    [message] = outcome["refused"]["response_metadata"]["messages"]
    assert message == "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"
    assert (await stage.see("U0ALICE"))["views"][0]["title"]["text"] == "Top up"


async def test_push_stacks_to_three_and_clear_empties_the_stack(make_stage: MakeStage) -> None:
    form = Form()
    form.answer = {"response_action": "push", "view": form.view}
    stage = await make_stage(wire=form.wire)
    first = await _opened(stage)
    second_id = (await _submit(stage, first, amount={"value": "1"}))["view_id"]
    third_id = (await _submit(stage, {"id": second_id}, amount={"value": "2"}))["view_id"]
    full = await _submit(stage, {"id": third_id}, amount={"value": "3"})
    stack = (await stage.see("U0ALICE"))["views"]

    assert full["refused"]["error"] == "push_limit_reached"
    assert [one["id"] for one in stack] == [first["id"], second_id, third_id]
    assert {one["root_view_id"] for one in stack} == {first["id"]}
    assert stack[2]["previous_view_id"] == second_id

    form.answer = {"response_action": "clear"}
    await _submit(stage, {"id": third_id}, amount={"value": "4"})
    assert (await stage.see("U0ALICE"))["views"] == []


async def test_a_button_in_a_modal_can_push_and_carries_what_was_typed(make_stage: MakeStage) -> None:
    form = Form(amount_input(), button("more"))
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    await stage.act(
        "click", user="U0ALICE", view_id=view["id"], action_id="more", values={"amount": {"value": "7"}}
    )

    assert form.clicked[0]["container"] == {"type": "view", "view_id": view["id"]}
    assert form.clicked[0]["view"]["state"]["values"]["amount"]["value"]["value"] == "7"
    assert len((await stage.see("U0ALICE"))["views"]) == 2


async def test_a_trigger_works_once_within_three_seconds(make_stage: MakeStage) -> None:
    form = Form()
    stage = await make_stage(wire=form.wire)
    await _opened(stage)
    used = await stage.api("views.open", trigger_id=form.triggers[0], view=form.view)
    invented = await stage.api("views.open", trigger_id="1.2.abc", view=form.view)

    assert (used["error"], invented["error"]) == ("exchanged_trigger_id", "invalid_trigger_id")

    late: list[Json] = []

    @stage.app.action("approve")
    async def approve(ack: Any, body: Json) -> None:
        await ack()
        late.append(body)

    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id="approve")
    await stage.post("clock", advance_seconds=3.1)
    expired = await stage.api("views.open", trigger_id=late[0]["trigger_id"], view=form.view)
    assert expired["error"] == "expired_trigger_id"


async def test_a_refused_view_does_not_use_up_the_trigger(make_stage: MakeStage) -> None:
    triggers: list[str] = []

    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, body: Json) -> None:
            triggers.append(body["trigger_id"])
            await ack()

    stage = await make_stage(wire=wire)
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    bad = modal(amount_input(), title=text(""))
    refused = await stage.api("views.open", trigger_id=triggers[0], view=bad)
    opened = await stage.api("views.open", trigger_id=triggers[0], view=modal(amount_input()))

    assert refused["error"] == "invalid_arguments"
    assert opened["ok"]


async def test_a_stale_hash_conflicts(make_stage: MakeStage) -> None:
    form = Form(amount_input(), button("more"))
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    updated = await stage.api("views.update", view_id=view["id"], hash=view["hash"], view=form.view)
    stale = await stage.api("views.update", view_id=view["id"], hash=view["hash"], view=form.view)

    assert updated["view"]["hash"] != view["hash"]
    assert stale["error"] == "hash_conflict"


async def test_an_external_id_names_one_view(make_stage: MakeStage) -> None:
    form = Form(external_id="R-1")
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    updated = await stage.api("views.update", external_id="R-1", view=form.view)
    await stage.act("command", user="U0BOB", channel="C0OPS", text="/card")
    calls = [call for call in (await stage.state())["calls"] if call["method"] == "views.open"]

    assert updated["view"]["id"] == view["id"]
    assert calls[-1]["error"] == "duplicate_external_id"


async def test_closing_is_notified_only_when_asked_for(make_stage: MakeStage) -> None:
    form = Form(notify_on_close=True)
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    displayed = await stage.act("close", user="U0ALICE", view_id=view["id"])
    del form.view["notify_on_close"]
    silent = await stage.act("close", user="U0ALICE", view_id=(await _opened(stage))["id"])

    assert (displayed["acked"], silent["acked"]) == (True, False)
    assert [one["is_cleared"] for one in form.closed] == [False]


async def test_nobody_touches_another_persons_modal(make_stage: MakeStage) -> None:
    stage = await make_stage(wire=Form().wire)
    view = await _opened(stage)
    refused = await stage.post("act/submit", 400, user="U0BOB", view_id=view["id"], values={})

    assert refused["error"] == f"bob has no open view '{view['id']}'"


SELECTS: list[tuple[Json, Any, Json]] = [
    (
        {"type": "static_select", "options": [{"text": text("One"), "value": "1"}]},
        "1",
        {"selected_option": {"text": {**text("One"), "emoji": True}, "value": "1"}},
    ),
    (
        {"type": "checkboxes", "options": [{"text": text("Now"), "value": "now"}]},
        ["now"],
        {"selected_options": [{"text": {**text("Now"), "emoji": True}, "value": "now"}]},
    ),
    (
        {"type": "radio_buttons", "options": [{"text": text("A"), "value": "a"}]},
        None,
        {"selected_option": None},
    ),
    ({"type": "users_select"}, "U0BOB", {"selected_user": "U0BOB"}),
    ({"type": "multi_users_select"}, ["U0BOB"], {"selected_users": ["U0BOB"]}),
    ({"type": "datepicker"}, "2026-03-02", {"selected_date": "2026-03-02"}),
    ({"type": "timepicker"}, "09:30", {"selected_time": "09:30"}),
    ({"type": "datetimepicker"}, 1772442000, {"selected_date_time": 1772442000}),
    ({"type": "number_input", "is_decimal_allowed": True}, "1.5", {"value": "1.5"}),
    ({"type": "email_text_input"}, "a@example.com", {"value": "a@example.com"}),
]


@pytest.mark.parametrize(("element", "given", "expected"), SELECTS, ids=lambda one: str(one)[:30])
async def test_each_input_has_its_own_form_in_the_state(
    make_stage: MakeStage, element: Json, given: Any, expected: Json
) -> None:
    block = {
        "type": "input",
        "block_id": "b",
        "label": text("L"),
        "optional": True,
        "element": {**element, "action_id": "a"},
    }
    form = Form(block)
    stage = await make_stage(wire=form.wire)
    await _submit(stage, await _opened(stage), b={"a": given})

    assert form.submitted[0]["view"]["state"]["values"]["b"]["a"] == {"type": element["type"], **expected}


async def test_an_external_select_offers_what_the_app_suggests_and_nothing_else(
    make_stage: MakeStage,
) -> None:
    block = {
        "type": "input", "block_id": "card", "label": text("Card"),
        "element": {"type": "external_select", "action_id": "pick", "min_query_length": 1},
    }  # fmt: skip
    form = Form(block)
    form.options = {"options": [{"text": text("Ada, 4242"), "value": "c1"}]}
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    where = {"user": "U0ALICE", "view_id": view["id"], "block_id": "card", "action_id": "pick"}

    assert (await stage.act("suggest", **where, value=""))["reason"] == "below_min_query_length"
    refused = await stage.post(
        "act/submit", 400, user="U0ALICE", view_id=view["id"], values={"card": {"pick": "c1"}}
    )
    assert refused["error"] == "pick offers no option 'c1'"
    assert (await stage.post("act/suggest", **where, value="ad"))["options"][0]["value"] == "c1"
    outcome = await _submit(stage, view, card={"pick": "c1"})
    assert outcome["acked"]
    assert form.submitted[0]["view"]["state"]["values"]["card"]["pick"]["selected_option"]["value"] == "c1"


async def test_a_suggestion_with_more_than_100_options_is_refused(make_stage: MakeStage) -> None:
    block = {
        "type": "input", "block_id": "card", "label": text("Card"),
        "element": {"type": "external_select", "action_id": "pick", "min_query_length": 0},
    }  # fmt: skip
    form = Form(block)
    form.options = {"options": [{"text": text("x"), "value": str(n)} for n in range(101)]}
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    outcome = await stage.act(
        "suggest", user="U0ALICE", view_id=view["id"], block_id="card", action_id="pick", value=""
    )

    assert outcome["options"] == []
    assert outcome["refused"] == ["no more than 100 items allowed [json-pointer:/options]"]


async def test_a_home_tab_is_published_per_person_and_its_buttons_work(make_stage: MakeStage) -> None:
    opened: list[Json] = []
    clicked: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.event("app_home_opened")
        async def home(event: Json, client: Any) -> None:
            opened.append(event)
            await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [button()]})

        @app.action("approve")
        async def approve(ack: Any, body: Json) -> None:
            clicked.append(body)
            await ack()

    stage = await make_stage(wire=wire)
    await stage.act("home", user="U0BOB", tab="home")
    await stage.act("home", user="U0BOB", tab="home")
    home = (await stage.see("U0BOB"))["home"]
    await stage.act("click", user="U0BOB", view_id=home["id"], action_id="approve")

    assert "view" not in opened[0]
    assert opened[1]["view"]["id"] == home["id"]
    assert (opened[0]["tab"], opened[0]["channel"]) == ("home", "D0BOB")
    assert clicked[0]["view"]["type"] == "home"
    assert (await stage.see("U0ALICE"))["home"] is None


@pytest.mark.parametrize(
    ("element", "given", "error"),
    [
        ({"type": "datepicker"}, "tomorrow", "a: 'tomorrow' cannot be chosen in a datepicker"),
        ({"type": "timepicker"}, "25:00", "a: '25:00' cannot be chosen in a timepicker"),
        ({"type": "datetimepicker"}, "soon", "a: seconds since 1970 are wanted, not 'soon'"),
        ({"type": "plain_text_input"}, 5, "a: a text is wanted, not 5"),
        ({"type": "multi_users_select"}, "U0BOB", "a: a list of texts is wanted, not 'U0BOB'"),
    ],
)
async def test_a_value_nobody_could_have_chosen_is_refused(
    make_stage: MakeStage, element: Json, given: Any, error: str
) -> None:
    block = {"type": "input", "block_id": "b", "label": text("L"), "element": {**element, "action_id": "a"}}
    form = Form(block)
    stage = await make_stage(wire=form.wire)
    view = await _opened(stage)
    refused = await stage.post(
        "act/submit", 400, user="U0ALICE", view_id=view["id"], values={"b": {"a": given}}
    )

    assert refused["error"] == error
    assert form.submitted == []


@pytest.mark.parametrize(
    ("element", "given", "complaint"),
    [
        ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "Please enter a whole number."),
        ({"type": "number_input", "is_decimal_allowed": True}, "1e3", "Please enter a valid number."),
        (
            {"type": "number_input", "is_decimal_allowed": True, "min_value": "1"},
            "0.5",
            "Please enter a number that is at least 1.",
        ),
        ({"type": "email_text_input"}, "a at b", "Please enter a valid email address."),
        ({"type": "url_text_input"}, "example.com", "Please enter a valid URL."),
        (
            {"type": "multi_users_select", "max_selected_items": 1},
            ["U0BOB", "U0CAROL"],
            "Please choose no more than 1.",
        ),
    ],
)
async def test_slacks_client_says_what_is_wrong_on_the_field(
    make_stage: MakeStage, element: Json, given: Any, complaint: str
) -> None:
    block = {"type": "input", "block_id": "b", "label": text("L"), "element": {**element, "action_id": "a"}}
    form = Form(block)
    stage = await make_stage(wire=form.wire)
    outcome = await _submit(stage, await _opened(stage), b={"a": given})

    assert outcome["errors"] == {"b": complaint}
    assert form.submitted == []
