"""The rules of the house: requests, approvals, policy, outcomes. Pure: no I/O, no clock, no Slack."""
