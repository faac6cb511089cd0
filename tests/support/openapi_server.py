"""A small API of to-dos on loopback, with its OpenAPI document at ``/openapi.json``."""

from __future__ import annotations

import json
from typing import Any

from tests.support.loopback import Asked, Given, LoopbackServer, given_json

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Todos", "version": "1"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/todos": {
            "get": {
                "operationId": "listTodos",
                "summary": "List to-dos.",
                "parameters": [
                    {"name": "done", "in": "query", "schema": {"type": "boolean"}},
                    {
                        "name": "tag",
                        "in": "query",
                        "schema": {"type": "array", "items": {"type": "string"}},
                    },
                ],
            },
            "post": {
                "operationId": "addTodo",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Todo"}}
                    },
                },
            },
        },
        "/todos/{id}": {
            "parameters": [_ID],
            "get": {"operationId": "getTodo", "summary": "One to-do."},
            "delete": {"operationId": "deleteTodo"},
        },
        "/moved": {"get": {"operationId": "moved"}},
        "/long": {"get": {"operationId": "long"}},
    },
    "components": {
        "schemas": {
            "Todo": {
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string"},
                    "parent": {"$ref": "#/components/schemas/Todo"},
                },
            }
        }
    },
}


class OpenApiServer(LoopbackServer):
    """Keeps ``todos``; serves ``document`` and counts on nobody reading it twice."""

    def __init__(self, document: dict[str, Any] | str | None = None) -> None:
        self.document = DOCUMENT if document is None else document
        self.todos: dict[str, dict[str, Any]] = {"1": {"text": "water the plants"}}
        super().__init__()

    @property
    def document_url(self) -> str:
        return f"{self.url}/openapi.json"

    def calls(self) -> list[tuple[str, str]]:
        """Method and path of what was asked besides the document."""
        return [(each.method, each.path) for each in self.asked if each.path != "/openapi.json"]

    def answer(self, asked: Asked) -> Given:
        match asked.method, asked.path.strip("/").split("/"):
            case "GET", ["openapi.json"]:
                return self._document()
            case "GET", ["v1", "moved"]:
                return Given(302, headers={"location": f"{self.url}/v1/todos"})
            case "GET", ["v1", "long"]:
                return Given(200, "x" * 50_000, {"content-type": "text/plain"})
            case "GET", ["v1", "todos"]:
                return given_json({"query": asked.query, "todos": self.todos})
            case "POST", ["v1", "todos"]:
                number = str(len(self.todos) + 1)
                self.todos[number] = asked.json
                return given_json({"id": number}, 201)
            case "GET", ["v1", "todos", number] if number in self.todos:
                return given_json(self.todos[number])
            case "DELETE", ["v1", "todos", number] if number in self.todos:
                del self.todos[number]
                return Given(204)
            case _:
                return given_json({"error": "there is no such to-do"}, 404)

    def _document(self) -> Given:
        text = self.document if isinstance(self.document, str) else json.dumps(self.document)
        return Given(200, text, {"content-type": "application/json"})
