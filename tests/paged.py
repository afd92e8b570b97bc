"""The page for tests: a real server in this process, on a port of its own, for real clients."""

from __future__ import annotations

import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.service.loopback import listen
from lancebrain.types import Source
from lancebrain.web.gate import Keys
from lancebrain.web.pages import build
from tests.stand_in import StandIn

TOKEN = "a-token-of-some-length"


@dataclass(frozen=True)
class Page:
    """A page that is served.

    Attributes:
        url: without a slash at the end.
        link: that lets a browser in.
        root: folder of its source, named ``notes``.
    """

    url: str
    link: str
    root: Path
    brain: Brain

    @contextmanager
    def client(self, *, enters: bool = True) -> Iterator[httpx2.Client]:
        """A client, let in by the link unless it is not to be."""
        origin = {"Origin": self.url} if enters else {}
        with httpx2.Client(base_url=self.url, headers=origin, timeout=60) as client:
            if enters:
                assert client.get(self.link).status_code == 303
            yield client


@contextmanager
def served(tmp_path: Path, root: Path, **how: Any) -> Iterator[Page]:
    """Serve the page of an index of one folder.

    Args:
        how: see ``build``; files are followed.
    """
    brain = how.pop("brain", None) or open_brain(
        tmp_path / "index", embedder=StandIn(), sources=[Source("notes", root)]
    )
    on = listen("127.0.0.1", 0)
    port = on.getsockname()[1]
    keys = Keys(TOKEN, port)
    app = build(brain, keys=keys, port=port, **how)
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([on],), daemon=True)
    thread.start()
    eventually(lambda: server.started)
    url = f"http://127.0.0.1:{port}"
    try:
        yield Page(url, f"{url}/?token={keys.in_link}", root, brain)
    finally:
        server.should_exit = True
        thread.join(20)


def eventually(holds: Callable[[], Any], *, within_s: float = 30.0) -> Any:
    """Wait until something holds, and give it."""
    until = time.monotonic() + within_s
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < until, "It never held."
        time.sleep(0.02)


def points_of(packed: bytes) -> tuple[dict[str, Any], list[int], list[int]]:
    """The header of a map, the ``chunk_index`` of each point, and its document's number."""
    (length,) = struct.unpack_from("<I", packed)
    header = json.loads(packed[4 : 4 + length])
    count = header["count"]
    chunks = struct.unpack_from(f"<{count}d", packed, 4 + length)
    documents = struct.unpack_from(f"<{count}I", packed, 4 + length + 8 * count)
    assert len(packed) == 4 + length + 16 * count
    return header, [int(chunk) for chunk in chunks], list(documents)
