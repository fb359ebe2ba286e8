"""What a person does with a modal or their home tab: click, type into a menu, submit, close.

Slack's client checks required and length-limited inputs before it sends anything; so does this.
A submission must be answered in its ack: nothing closes the view, `errors` go on the fields,
`update` and `push` show a view, `clear` closes all. An answer Slack would refuse is shown as its
failure text and named in the outcome.

Deviations: suggestions are asked for in modals only, not in messages; `response_url_enabled` is
accepted, but `response_urls` of a submission stays empty.
"""

from __future__ import annotations

from typing import Any

from sandbox.slack.block_kit import input_values, limits, stored_blocks
from sandbox.slack.delivery import Parcel, payloads
from sandbox.slack.errors import BadAct, SlackError
from sandbox.slack.interactions.actors import find_person, first_ack, outcome
from sandbox.slack.interactions.clicks import chosen, send_click
from sandbox.slack.json_object import Json
from sandbox.slack.state import Person, View
from sandbox.slack.web_api import check_view
from sandbox.slack.workspace import Workspace

#: What a person has put into inputs: block id, action id, plain value.
Typed = dict[str, Json]

SUBMIT_FAILED = "We had some trouble connecting. Try again?"


async def open_home(workspace: Workspace, user: str, tab: str) -> Json:
    """Open the app's Home or Messages tab (`home` or `messages`).

    Answers `{delivered, acked, ack_ms}`. Source: https://docs.slack.dev/surfaces/app-home
    """
    who = find_person(workspace, user)
    where = workspace.store.direct_message(who.id)
    if where is None:
        raise BadAct(f"{who.name} has no conversation with the app")
    return await first_ack([workspace.events.home_opened(who, where, tab)])


def own_view(workspace: Workspace, user: str, view_id: str) -> tuple[Person, View]:
    """A view this person has open. Raises BadAct."""
    who = find_person(workspace, user)
    view = workspace.views.find(view_id)
    if view is None or view.user != who.id:
        raise BadAct(f"{who.name} has no open view {view_id!r}")
    return who, view


def _placed(view: View, action_id: str, block_id: str | None) -> stored_blocks.Placed:
    placed = stored_blocks.find(view.blocks, action_id, block_id)
    if placed is None:
        raise BadAct(f"there is no element {action_id!r} in that view")
    return placed


def put_values(view: View, typed: Typed) -> None:
    """Take what a person put into a view. Raises BadAct for what is not there or cannot be."""
    for block_id, actions in typed.items():
        for action_id, given in actions.items():
            placed = _placed(view, action_id, block_id)
            suggested = view.suggested.get((block_id, action_id), {})
            entry = input_values.state(placed.element, given, suggested)
            view.values.setdefault(block_id, {})[action_id] = entry


async def click_view(
    workspace: Workspace,
    user: str,
    view_id: str,
    block_id: str | None,
    action_id: str,
    value: Any,
    typed: Typed,
) -> Json:
    """Use an element of a modal or a home tab; `typed` is what the inputs hold by then.

    Answers an outcome. Raises BadAct for a view that is not this person's, and for an input that is only submitted.
    """
    who, view = own_view(workspace, user, view_id)
    put_values(view, typed)
    placed = _placed(view, action_id, block_id)
    if placed.is_input and not placed.block.get("dispatch_action"):
        raise BadAct(f"{action_id} is an input without dispatch_action: it is sent with the submission")
    entry = chosen(placed.element, value, view.suggested.get((placed.block_id, placed.action_id), {}))
    if entry is not None and placed.element["type"] not in input_values.STATELESS:
        view.values.setdefault(placed.block_id, {})[placed.action_id] = entry
    action = input_values.action(placed.block_id, placed.element, entry, workspace.ids.ts())
    is_modal = view.body["type"] == "modal"
    trigger_id = workspace.triggers.issue(who.id, view.id if is_modal else None)
    return await send_click(workspace, who, payloads.view_action(who, view, action, trigger_id), placed)


async def suggest(
    workspace: Workspace, user: str, view_id: str, block_id: str, action_id: str, value: str
) -> Json:
    """Type `value` into an external select and get the options that the app offers.

    Answers an outcome with `options` or `option_groups`, or with `refused` (what Slack would complain of). Nothing is
    sent below the element's `min_query_length`.
    """
    who, view = own_view(workspace, user, view_id)
    placed = _placed(view, action_id, block_id)
    if placed.element["type"] not in input_values.EXTERNAL:
        raise BadAct(f"{action_id} has its options in itself")
    if len(value) < placed.element.get("min_query_length", 3):
        return {"acked": False, "ack_ms": None, "options": [], "reason": "below_min_query_length"}
    payload = payloads.block_suggestion(who, view, block_id, action_id, value)
    summary = f"{who.name} looks for {value!r} in {action_id}"
    ack = await workspace.delivery.send(Parcel("interactive", "block_suggestion", payload, True, summary))
    answer = ack.payload or {}
    complaints = limits.suggestion_complaints(answer) if ack.acked else []
    if complaints or not ack.acked:
        return {**outcome(ack), "options": [], **({"refused": complaints} if complaints else {})}
    offered = list(input_values.options_of(answer))
    kept = view.suggested.setdefault((block_id, action_id), {})
    kept.update({option["value"]: stored_blocks.complete_text(option) for option in offered})
    return {**outcome(ack), **{key: answer[key] for key in ("options", "option_groups") if key in answer}}


async def submit(workspace: Workspace, user: str, view_id: str, typed: Typed) -> Json:
    """Press the submit button of the modal on top, with `typed` in its inputs.

    Answers an outcome with `response_action`, and `view_id` (what is open then), `errors` by block id, or `refused`.
    `client_side` means that Slack's client found the errors and sent nothing.
    Source: https://docs.slack.dev/surfaces/modals
    """
    who, view = own_view(workspace, user, view_id)
    if view.body["type"] != "modal":
        raise BadAct("a home tab cannot be submitted")
    if view is not workspace.views.stack(who.id)[-1]:
        raise BadAct("another view lies on top of that one")
    put_values(view, typed)
    errors = _client_side(view)
    if errors:
        return {
            "acked": False,
            "ack_ms": None,
            "response_action": "errors",
            "errors": errors,
            "client_side": True,
            "view_id": view.id,
        }
    view.submitting = True
    workspace.changed()
    trigger_id = workspace.triggers.issue(who.id, view.id)
    payload = payloads.view_submission(who, view, view.current_values(), trigger_id)
    title = view.body["title"]["text"]
    parcel = Parcel("interactive", "view_submission", payload, True, f"{who.name} submitted {title}")
    ack = await workspace.delivery.send(parcel)
    view.submitting = False
    if not ack.acked:
        workspace.toast(who.id, SUBMIT_FAILED)
        return {**outcome(ack), "response_action": None, "view_id": view.id}
    return {**outcome(ack), **_take_answer(workspace, who, view, ack.payload or {})}


def _client_side(view: View) -> dict[str, str]:
    values = view.current_values()
    errors: dict[str, str] = {}
    for placed in stored_blocks.elements(view.blocks):
        if placed.is_input:
            entry = values[placed.block_id][placed.action_id]
            required = not placed.block.get("optional", False)
            complaint = input_values.complaint(placed.element, entry, required=required)
            if complaint:
                errors[placed.block_id] = complaint
    return errors


def _take_answer(workspace: Workspace, who: Person, view: View, answer: Json) -> Json:
    """Do what the ack of a submission says."""
    try:
        return _act(workspace, who, view, answer)
    except SlackError as refusal:
        workspace.toast(who.id, SUBMIT_FAILED)
        workspace.changed()
        return {"response_action": None, "view_id": view.id, "refused": refusal.body()}


def _act(workspace: Workspace, who: Person, view: View, answer: Json) -> Json:
    views = workspace.views
    match answer.get("response_action"):
        case None:
            views.close(view, whole_stack=False)
            return {"response_action": None}
        case "clear":
            views.close(view, whole_stack=True)
            return {"response_action": "clear"}
        case "errors":
            errors = _checked_errors(view, answer.get("errors"))
            workspace.changed()
            return {"response_action": "errors", "errors": errors, "view_id": view.id}
        case "update":
            body = check_view(answer.get("view"), "modal")
            return {"response_action": "update", "view_id": views.update(view, body, None).id}
        case "push":
            body = check_view(answer.get("view"), "modal")
            return {"response_action": "push", "view_id": views.push(who.id, body).id}
        case other:
            raise SlackError("invalid_response_action", response_action=other)


def _checked_errors(view: View, errors: Any) -> dict[str, str]:
    """Errors may only be put on inputs of this view."""
    if not isinstance(errors, dict) or not errors:
        raise SlackError("invalid_errors")
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    for block_id, text in errors.items():
        if block_id not in inputs:
            raise SlackError("invalid_errors", detail=f"{block_id} is not an input of this view")
        if not isinstance(text, str) or not text:
            raise SlackError("invalid_errors", detail=f"the error of {block_id} is no text")
    return dict(errors)


async def close(workspace: Workspace, user: str, view_id: str) -> Json:
    """Close a modal; with `clear_on_close` the whole stack.

    The app gets `view_closed` for each view that asked for it (`notify_on_close`). A
    person does not wait for that ack, but a test may want to. Answers an outcome with `closed`, the ids of the views.
    """
    who, view = own_view(workspace, user, view_id)
    if view.body["type"] != "modal":
        raise BadAct("a home tab cannot be closed")
    whole = bool(view.body.get("clear_on_close"))
    gone = workspace.views.close(view, whole_stack=whole)
    notified = [one for one in gone if one.body.get("notify_on_close")]
    result: Json = {"acked": False, "ack_ms": None, "closed": [one.id for one in gone]}
    for one in notified:
        payload = payloads.view_closed(who, one, is_cleared=whole)
        parcel = Parcel("interactive", "view_closed", payload, False, f"{who.name} closed a view")
        result |= outcome(await workspace.delivery.send(parcel))
    return result
