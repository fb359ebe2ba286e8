"""Use cases: each public function is one thing a person or a job does. They know storage and the
Partner API, and nothing of Slack's wire or blocks."""
