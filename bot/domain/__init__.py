"""The rules of Countersign: requests, approvals, policy, money. Pure: no I/O, no clock, no Slack."""
