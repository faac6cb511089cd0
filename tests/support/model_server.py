"""A scripted model: answers of the chat-completions protocol, and a server of them on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends: after ``delay_s`` seconds, or nothing at all where ``drop``."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    drop: bool = False

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)


def says(text: str | None, *, tokens: tuple[int, int] = (100, 10)) -> Answer:
    """The last word of a turn."""
    return _message({"role": "assistant", "content": text}, tokens)


def calls(*wanted: tuple[str, Any], tokens: tuple[int, int] = (100, 10)) -> Answer:
    """Calls of functions; arguments that are no text are written as JSON."""
    made = [
        {
            "id": f"made-up-{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": args if isinstance(args, str) else json.dumps(args),
            },
        }
        for index, (name, args) in enumerate(wanted)
    ]
    return _message({"role": "assistant", "content": None, "tool_calls": made}, tokens)


def fails(status: int, body: Any = None, **headers: str) -> Answer:
    """An error; ``retry_after="3"`` is the header ``retry-after``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body or {"error": {"message": "scripted"}}, status, named)


def slowly(answer: Answer, delay_s: float) -> Answer:
    """The same, later."""
    return replace(answer, delay_s=delay_s)


def _message(message: Body, tokens: tuple[int, int]) -> Answer:
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return Answer({"choices": [{"index": 0, "message": message}], "usage": usage})


class ModelServer:
    """Answers from ``script``, first come first served, then by ``otherwise``."""

    def __init__(self, *script: Answer, otherwise: Callable[[Body], Answer] | None = None):
        self.script = list(script)
        self.otherwise = otherwise
        self.requests: list[Body] = []
        self.times: list[float] = []
        """When each request came, by ``time.time``."""
        self.key = "key-of-the-model"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """What MODEL_BASE_URL takes."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def vars(self) -> dict[str, str]:
        """The bot's variables for it."""
        return {"MODEL_BASE_URL": self.url, "MODEL_API_KEY": self.key, "MODEL": "scripted"}

    def then(self, *answers: Answer) -> None:
        """Go on with these answers."""
        self.script += answers

    def reset(self) -> None:
        """No script, no requests."""
        self.script, self.requests, self.times, self.otherwise = [], [], [], None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, body: Body, key: str | None) -> Answer:
        if key != f"Bearer {self.key}":
            return fails(401)
        self.requests.append(body)
        self.times.append(time.time())
        if self.script:
            return self.script.pop(0)
        return self.otherwise(body) if self.otherwise else fails(400, "the script has ended")


def _handler_of(model: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            body = json.loads(self.rfile.read(length))
            if self.path != "/v1/chat/completions":
                answer = fails(404)
            else:
                answer = model.answer(body, self.headers.get("authorization"))
            time.sleep(answer.delay_s)
            if answer.drop:
                self.close_connection = True
                return
            sent = answer.text.encode()
            try:
                self.send_response(answer.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(sent)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(sent)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    return Handler
