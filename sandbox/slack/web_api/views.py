"""Modals and home tabs: views.open, push, update, publish."""

from __future__ import annotations

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import View
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import check_view
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace


def _view(args: Args, *kinds: str) -> Json:
    view = args.structure("view", dict, "invalid_arguments")
    if view is None:
        raise invalid_arguments("missing required field: view")
    return check_view(view, *kinds)


def open_view(workspace: Workspace, args: Args) -> Json:
    """`views.open`: open a modal with a trigger. Answers `{view}`.

    Source: https://docs.slack.dev/reference/methods/views.open
    """
    body = _view(args, "modal")
    trigger = workspace.triggers.use(args.required("trigger_id"))
    return {"view": workspace.views.open(trigger.user, body).as_json({})}


def push_view(workspace: Workspace, args: Args) -> Json:
    """`views.push`: put a modal on top of one that is still open, with a trigger from it. Answers `{view}`.

    Source: https://docs.slack.dev/reference/methods/views.push
    """
    body = _view(args, "modal")
    trigger = workspace.triggers.use(args.required("trigger_id"))
    if trigger.view_id is None or workspace.views.find(trigger.view_id) is None:
        raise SlackError("not_found")
    return {"view": workspace.views.push(trigger.user, body).as_json({})}


def update_view(workspace: Workspace, args: Args) -> Json:
    """`views.update`: change an open view, named by `view_id` or `external_id`. Answers `{view}`.

    Source: https://docs.slack.dev/reference/methods/views.update
    """
    view = _named(workspace, args)
    body = _view(args, view.body["type"])
    expected = args.text("hash") or None
    return {"view": workspace.views.update(view, body, expected).as_json()}


def _named(workspace: Workspace, args: Args) -> View:
    view_id, external_id = args.text("view_id"), args.text("external_id")
    if not view_id and not external_id:
        raise invalid_arguments("missing required field: view_id")
    views = workspace.views
    view = views.find(view_id) if view_id else views.with_external_id(external_id)
    if view is None:
        raise SlackError("not_found")
    return view


def publish_view(workspace: Workspace, args: Args) -> Json:
    """`views.publish`: set a person's home tab. Answers `{view}`.

    Source: https://docs.slack.dev/reference/methods/views.publish
    """
    user = args.required("user_id")
    body = _view(args, "home")
    if not workspace.manifest.home_tab:
        raise SlackError("not_enabled")
    if user not in workspace.store.people:
        raise SlackError("user_not_found")
    view = workspace.views.publish(user, body, args.text("hash") or None)
    return {"view": view.as_json({})}


METHODS = {
    "views.open": Method(open_view, 4),
    "views.push": Method(push_view, 4),
    "views.update": Method(update_view, 4),
    "views.publish": Method(publish_view, 4),
}
