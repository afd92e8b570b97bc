"""Object storage for tests: a real S3 protocol server on loopback, and a bad line to it."""

from __future__ import annotations

import logging
import re
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

BUCKET = "team"
_REQUEST = re.compile(rb"(GET|PUT|POST|DELETE|HEAD) (\S+) HTTP/1\.1\r\n")


@contextmanager
def s3_server() -> Iterator[str]:
    """A server with an empty bucket; its address."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        make = urllib.request.Request(f"{address}/{BUCKET}", method="PUT")
        urllib.request.urlopen(make, timeout=10).close()
        yield address
    finally:
        server.stop()


def options(address: str) -> dict[str, str]:
    """Storage options for a server at this address."""
    return {
        "aws_endpoint": address,
        "aws_access_key_id": "someone",
        "aws_secret_access_key": "secret",
        "aws_region": "us-east-1",
        "allow_http": "true",
    }


class Line:
    """A TCP line to a server, which can be cut, and can lose answers.

    Attributes:
        address: to use in place of the server's.
        on_request: is told of each request: its method and path; its result is whether the answer
            gets lost after the server has done what was asked.
    """

    def __init__(self, to: str) -> None:
        host, _, port = to.removeprefix("http://").partition(":")
        self._to = (host, int(port))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.on_request: Callable[[str, str], bool] = lambda method, path: False
        self._is_cut = threading.Event()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Nothing gets through meanwhile, and what was under way is lost."""
        self._is_cut.set()
        for connection in list(self._open):
            _close(connection)
        yield
        self._is_cut.clear()

    def cut_for(self, seconds: float) -> None:
        """The same for some time, in a thread of its own."""

        def cut() -> None:
            with self.cut():
                time.sleep(seconds)

        threading.Thread(target=cut, daemon=True).start()

    def close(self) -> None:
        _close(self._listening)
        for connection in list(self._open):
            _close(connection)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._is_cut.is_set():
                    _close(near)
                    continue
                far = socket.create_connection(self._to)
                self._open |= {near, far}
                loses = threading.Event()
                for pump, first, second in ((self._ask, near, far), (self._answer, far, near)):
                    threading.Thread(target=pump, args=(first, second, loses), daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket, loses: threading.Event) -> None:
        with suppress(OSError):
            while data := near.recv(1 << 16):
                for method, path in _REQUEST.findall(data):
                    if self.on_request(method.decode(), path.decode()):
                        loses.set()
                far.sendall(data)
        self._end(near, far)

    def _answer(self, far: socket.socket, near: socket.socket, loses: threading.Event) -> None:
        with suppress(OSError):
            while data := far.recv(1 << 16):
                if loses.is_set():
                    break
                near.sendall(data)
        self._end(near, far)

    def _end(self, *connections: socket.socket) -> None:
        self._open.difference_update(connections)
        for connection in connections:
            _close(connection)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
