"""The rules of the house: requests, approvals, policy, money. Pure: no I/O, no clock, no Slack."""
