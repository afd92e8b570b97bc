"""A server on this machine that speaks the protocols of Ollama and OpenAI, and does as it is told.

Its vectors are those of the stand-in, three times as long.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.stand_in import StandIn

Answer = tuple[int, Any]


class EmbeddingServer:
    """Starts when it is made.

    Attributes:
        models: that it has, with their digests.
        requests: of every request, the path and the content.
        hurdles: answers to give, one after the other, before it goes on as usual.
        headers: sent along with a hurdle.
        fail_on: texts that hold it are answered as llama.cpp and Ollama answer what they cannot
            embed.
    """

    def __init__(self) -> None:
        self.models = {"snowflake-arctic-embed2:latest": "sha256:" + "ab" * 32}
        self.requests: list[tuple[str, Any]] = []
        self.hurdles: list[Answer] = []
        self.headers: dict[str, str] = {}
        self.fail_on: str | None = None
        self.change: Callable[[Any], Any] = lambda content: content
        self._model = StandIn()
        self._serve(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        """All that it was given to embed."""
        return [
            text for _, content in self.requests if content for text in content.get("input", ())
        ]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def start_again(self) -> None:
        """At the same address."""
        self._serve(self.port)

    def answer(self, path: str, content: Any) -> Answer:
        self.requests.append((path, content))
        if self.hurdles:
            return self.hurdles.pop(0)
        if path == "/api/tags":
            models = [
                {"name": name, "model": name, "digest": digest}
                for name, digest in self.models.items()
            ]
            return 200, {"models": models}
        if self.fail_on is not None and any(self.fail_on in text for text in content["input"]):
            return 500, {"error": {"code": 500, "message": "input is too large to process"}}
        vectors = [(3 * vector).tolist() for vector in self._model.embed_passages(content["input"])]
        if path == "/api/embed":
            name = content["model"]
            if name not in self.models and f"{name}:latest" not in self.models:
                return 404, {"error": f'model "{name}" not found, try pulling it first'}
            return 200, self.change({"model": name, "embeddings": vectors})
        if path == "/v1/embeddings":
            data = [
                {"object": "embedding", "index": index, "embedding": vector}
                for index, vector in enumerate(vectors)
            ]
            return 200, self.change({"object": "list", "data": data[::-1]})
        return 404, {"error": {"message": "no such place"}}

    def _serve(self, port: int) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                self._answer(json.loads(self.rfile.read(length)))

            def _answer(self, content: Any) -> None:
                status, body = outer.answer(self.path, content)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
