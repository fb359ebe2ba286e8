"""One request and one answer, free of any web framework, and the refusals that become error bodies."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from sandbox.partner import codec


@dataclass(frozen=True)
class Request:
    """`path` is decoded once; `headers` keeps repeats; `body` is None when it was over the cap."""

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = b""

    def header(self, name: str) -> list[str]:
        """Every value of a header, in order; bytes that are no UTF-8 become question marks."""
        return [
            value.encode("utf-8", "replace").decode()
            for key, value in self.headers
            if key.lower() == name.lower()
        ]

    def parameters(self) -> dict[str, str]:
        """Query parameters; the last of a repeated name counts."""
        return dict(parse_qsl(self.query, keep_blank_values=True))


class Wire(enum.StrEnum):
    """What happens to the connection instead of, or with, an answer."""

    ANSWER = "answer"
    DROP = "drop"  # closed without an answer
    RESET = "reset"  # TCP reset


@dataclass
class Answer:
    """`lost_answer` is what a dropped connection would have carried, for the journal."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    wire: Wire = Wire.ANSWER

    @classmethod
    def of(cls, data: Any, status: int = 200) -> Answer:
        """A JSON answer with `data` in the API's envelope."""
        return cls(status, codec.encode({"data": data}))

    @classmethod
    def nothing(cls, wire: Wire) -> Answer:
        """No answer at all: the connection ends as `wire` says."""
        return cls(0, b"", wire=wire)


class Refusal(Exception):
    """An error answer of the API: a status, a documented code and a sentence (Errors)."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def answer(self) -> Answer:
        """The error body as the API sends it: `error` and `code` (Errors)."""
        return Answer(
            self.status, codec.encode({"error": self.message, "code": self.code}), dict(self.headers)
        )


class Lost(Exception):
    """The connection ends here and nothing more of the call happens."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire.value)
        self.wire = wire


def bad_request(message: str) -> Refusal:
    """400 BAD_REQUEST with a sentence that names the field."""
    return Refusal(400, "BAD_REQUEST", message)


def not_found(what: str) -> Refusal:
    """404 NOT_FOUND; `what` begins the sentence."""
    return Refusal(404, "NOT_FOUND", f"{what} was not found.")


def unavailable(status: int, message: str) -> Refusal:
    """UNAVAILABLE under a status of 500, 502 or 503."""
    return Refusal(status, "UNAVAILABLE", message)


def conflict(message: str) -> Refusal:
    """409 ALREADY_PROCESSED; the sentence says which of its meanings."""
    return Refusal(409, "ALREADY_PROCESSED", message)
