"""Requests to a server that embeds, tried again where that may help.

A server that does not answer is asked again, a little later each time; then it counts as down for
some seconds, so that nobody waits for it over and over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lancebrain.errors import EmbedderError, ModelUnavailableError

if TYPE_CHECKING:
    import httpx2

_CONNECT_S = 2.0
_ANSWER_S = 120.0
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 5.0
_DOWN_S = 5.0
_FAILED = 500
_BUSY = frozenset({408, 425, 429, _FAILED, 502, 503, 504})
"""Answers that may be others a little later."""
_OWN_MACHINE = ("127.0.0.1", "localhost", "::1")


class RefusedError(EmbedderError):
    """The server understood, and said no.

    Attributes:
        status: of its answer.
    """

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"The server said: {said[:300]} ({status}).")
        self.status = status


class Connection:
    """The way to one server; safe to use from several threads.

    Args:
        url: that paths are joined to.
        start: what to do when it does not answer.
    """

    def __init__(self, url: str, start: str) -> None:
        import httpx2

        self.url = url
        self._start = start
        try:
            host = httpx2.URL(url).host
        except httpx2.InvalidURL as error:
            raise EmbedderError(f"{url!r} is no address: {error}.") from error
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(_ANSWER_S, connect=_CONNECT_S),
            trust_env=host not in _OWN_MACHINE,  # a proxy does not lead back to this machine
        )
        self._guard = threading.Lock()
        self._down_until = 0.0
        self._down_because = ""

    def get(self, path: str, tries: int) -> Any:
        """What the server has at a path, see :meth:`post`."""
        return self._ask("GET", path, None, tries)

    def post(self, path: str, content: Mapping[str, object], tries: int) -> Any:
        """What the server makes of this content.

        Args:
            tries: how often it is asked at most.

        Raises:
            ModelUnavailableError: it does not answer.
            RefusedError: it does not want to.
        """
        return self._ask("POST", path, content, tries)

    def _ask(self, method: str, path: str, content: Mapping[str, object] | None, tries: int) -> Any:
        import httpx2

        with self._guard:
            if time.monotonic() < self._down_until:
                raise self._down(self._down_because)
        wait_s, why = _FIRST_WAIT_S, ""
        for left in range(tries - 1, -1, -1):
            later = 0.0
            try:
                response = self._client.request(method, self.url + path, json=content)
                if response.status_code not in _BUSY:
                    return self._content_of(response)
                why = f"{response.status_code} {response.reason_phrase}"
                later = _seconds(response.headers.get("retry-after", ""))
                if not left and response.status_code == _FAILED and _said(_json(response)):
                    # llama.cpp and Ollama say so of a text that they cannot embed.
                    return self._content_of(response)
            except (httpx2.TransportError, httpx2.DecodingError) as error:
                why = type(error).__name__
            if left:
                time.sleep(min(max(wait_s, later), _LONGEST_WAIT_S))
                wait_s *= 2
        with self._guard:
            self._down_until, self._down_because = time.monotonic() + _DOWN_S, why
        raise self._down(why)

    def _content_of(self, response: httpx2.Response) -> Any:
        content = _json(response)
        if response.is_success and content is not None:
            return content
        raise RefusedError(response.status_code, _said(content) or response.reason_phrase)

    def _down(self, why: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"The server at {self.url} does not answer ({why}).", hint=f"{self._start}."
        )


def _json(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):  # the latter of what is nested without end
        return None


def _said(content: Any) -> str:
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return str(error) if error else ""


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0
