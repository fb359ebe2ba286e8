"""A strict stand-in for Slack: the Web API, Socket Mode and the people who use them.

An app built on Slack's own SDK connects to it with nothing changed but the base address of the
Web API. It is a program of its own: it imports nothing of the product it is used to test, and its
reading of Slack's rules is its own.

What it is not: a replacement for Slack, a security boundary, or a place to keep anything. It
listens on loopback, and everyone who reaches it may act as anybody; that is its purpose.

Map: `app` (address and routes) · `workspace` (what belongs together) · `store`, `people`,
`persist` (truth) · `web_api` and `methods_*` (what the app calls) · `delivery`, `socket`,
`http_delivery` (how the app is reached) · `interactions`, `modals`, `events` (what a person does)
· `block_kit`, `limits` (what Slack would refuse) · `control`, `see`, `live` (page and tests).
"""
