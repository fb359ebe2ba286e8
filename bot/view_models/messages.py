"""What a message in Slack can show: one of these, as it is when the message is sent."""

from __future__ import annotations

from dataclasses import dataclass

from bot.view_models.alerts import AlertChartView, AlertLineView, AlertView, AnchorView, DigestView
from bot.view_models.operators import CodeView
from bot.view_models.requests import DirectView, LineView, LinkView, RequestView, ResultsView


@dataclass(frozen=True, slots=True)
class PlainView:
    """A message that cannot be shown as it should be.

    `text`: what it says, in Slack's markup; `note`: why it is plain.
    """

    text: str
    note: str


MessageView = (
    RequestView
    | LineView
    | DirectView
    | AlertView
    | AlertLineView
    | AlertChartView
    | CodeView
    | LinkView
    | DigestView
    | AnchorView
    | ResultsView
    | PlainView
)
