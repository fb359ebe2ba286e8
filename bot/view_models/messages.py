"""What a message in Slack can show: one of these, as it is when the message is sent."""

from __future__ import annotations

from bot.view_models.alerts import AlertChartView, AlertLineView, AlertView, AnchorView, DigestView
from bot.view_models.operators import CodeView
from bot.view_models.requests import DirectView, LineView, LinkView, RequestView, ResultsView

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
)
