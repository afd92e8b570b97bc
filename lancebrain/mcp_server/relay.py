"""A server that hands over: between its client's pipes and the shared server, line by line.

It loads nothing of the protocol, of LanceDB or of a model. When the shared server goes, it joins
the one that takes its place, or becomes that one itself: it remembers how the client introduced
itself and what it waits for, tells that again, and keeps back what the client was told before.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

from lancebrain.mcp_server.conversation import Conversation
from lancebrain.mcp_server.sharing import HOST, Address, Sharing, is_proof, proof

_STARTING_S = 8.0
"""A shared server that starts says within so long where it listens."""
_REFUSED_S = 1.0
"""One that does not let us in for so long is out of reach, as from within a container."""
_AGAIN_S = 0.05
_PROOF_S = 2.0
_SEND_S = 10.0
_PULSE_S = 5.0
_SILENT_PULSES = 3
"""A client waits for an answer and nothing is heard for so many pulses: the server is stuck."""

Line = bytes
Event = tuple["Link | None", Line]
"""A line of the shared server, or of the client; an empty one when there are no more."""


class Link:
    """A connection to the shared server that both ends have proven themselves on."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    @classmethod
    def to(cls, address: Address) -> Link | None:
        """Connect; None when nobody is there, or somebody else."""
        try:
            connected = socket.create_connection((HOST, address.port), timeout=_PROOF_S)
        except OSError:
            return None
        try:
            connected.sendall(proof(address.token, "guest"))
            with connected.makefile("rb", buffering=0) as stream:
                answer = stream.readline(len(proof(address.token, "host")))
            if is_proof(answer, address.token, "host"):
                connected.settimeout(_SEND_S)
                return cls(connected)
        except OSError:
            pass
        connected.close()
        return None

    def send(self, line: Line) -> None:
        """Send a line; OSError when the server is gone, or takes nothing in."""
        self._socket.sendall(line)

    def close(self) -> None:
        """Let go of it."""
        self._socket.close()

    def hear(self, events: queue.SimpleQueue[Event]) -> None:
        """Hand on what the server sends, in a thread of its own."""
        threading.Thread(target=self._hear, args=(events,), daemon=True).start()

    def _hear(self, events: queue.SimpleQueue[Event]) -> None:
        rest = b""
        while True:
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                events.put((self, b""))
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                events.put((self, line + b"\n"))


class Wire:
    """What is left of the client's pipes when nobody serves it but this process.

    Args:
        events: holds what the client says.
        conversation: so far.
        stdout: of the client.
    """

    def __init__(
        self, events: queue.SimpleQueue[Event], conversation: Conversation, stdout: BinaryIO
    ) -> None:
        self._events = events
        self._conversation = conversation
        self._stdout = stdout

    def lines(self) -> Iterator[str]:
        """What the client has to have said, then what it says; waits for each line."""
        for line in self._conversation.again():
            yield line.decode(errors="replace")
        while True:
            link, line = self._events.get()
            if link is None:
                if not line:
                    return
                self._conversation.said(line)
                yield line.decode(errors="replace")

    def write(self, text: str) -> None:
        """Tell the client something, if it is new to it."""
        line = text.encode()
        if self._conversation.is_news(line):
            self._stdout.write(line)
            self._stdout.flush()


def relay(sharing: Sharing) -> Wire | None:
    """Hand over to the shared server for as long as there is one; the process ends with stdin.

    Returns:
        None when there was none to begin with: this process is to serve. A wire when there is
        none any more: it is to serve that.
    """
    link = _join(sharing)
    if link is None:
        return None
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: _leave(128 + number))
    stdin, stdout = private(0), private(1)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    threading.Thread(target=_hear_client, args=(stdin, events), daemon=True).start()
    conversation = Conversation()
    while link is not None:
        _pass_on(events, link, conversation, stdout)
        link.close()
        for refusal in conversation.refusals():
            stdout.write(refusal)
            stdout.flush()
        link = _join(sharing)
    return Wire(events, conversation, stdout)


def _join(sharing: Sharing) -> Link | None:
    """A link to the shared server; None when this process is to be it, or cannot reach it."""
    until = time.monotonic() + _STARTING_S
    refusing: Address | None = None
    try:
        while time.monotonic() < until and not sharing.claim():
            address = sharing.address()
            link = Link.to(address) if address is not None else None
            if link is not None:
                return link
            if address is not None and address != refusing:
                refusing = address
                until = min(until, time.monotonic() + _REFUSED_S)
            time.sleep(_AGAIN_S)
    except OSError:
        pass  # a folder that may not be written, or without locks: everyone for themselves
    return None


def _pass_on(
    events: queue.SimpleQueue[Event], link: Link, conversation: Conversation, stdout: BinaryIO
) -> None:
    """Pass lines on in both directions until the server is lost."""
    link.hear(events)
    silent = 0
    try:
        for line in conversation.again():
            link.send(line)
        while silent < _SILENT_PULSES:
            try:
                sender, line = events.get(timeout=_PULSE_S if conversation.is_waiting else None)
            except queue.Empty:
                silent += 1
                link.send(b"\n")
                continue
            if sender is None:
                if not line:
                    _leave(0)
                conversation.said(line)
                link.send(line)
            elif sender is link:
                if not line:
                    return
                silent = 0
                if line.strip() and conversation.is_news(line):
                    stdout.write(line)
                    stdout.flush()
    except OSError:
        return


def _hear_client(stdin: BinaryIO, events: queue.SimpleQueue[Event]) -> None:
    for line in stdin:
        if line.strip():
            events.put((None, line if line.endswith(b"\n") else line + b"\n"))
    events.put((None, b""))


def private(descriptor: int) -> BinaryIO:
    """A standard stream for our own use; whoever uses it by its number disturbs nobody."""
    own = os.dup(descriptor)
    if descriptor == 0:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return os.fdopen(own, "rb")
    os.dup2(2, descriptor)
    return os.fdopen(own, "wb")


def _leave(code: int) -> NoReturn:
    sys.stderr.flush()
    os._exit(code)
