"""Records of a log → the turns of a conversation: deduplicated, masked, each with its question.

A format tells what it finds in a record (:meth:`Conversation.say`, ``fact``, ``title``,
``skipped``); this module does what every format needs, and carries over what a later reading
needs to go on where this one stopped (:meth:`Conversation.carried`).

Dedupe: a record's id counts once in a log; its last text wins, in the place of its first. Where
one message is written again and again while its text grows, the longest stands. A reading that
goes on cannot change turns that an earlier one handed out; where it would have to, it gives up:
:attr:`Conversation.stale`.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .turn import Turn, moment, one_line

MAX_REMEMBERED = 50_000
"""Turns with an id up to which a log can be resumed; each takes 8 bytes of the carried state."""

MAX_SKIPPED_KINDS = 50
"""Unknown kinds of records that are counted each by itself."""

Mask = Callable[[Sequence[str]], list[tuple[str, int]]]
"""Texts → each with its secrets masked, and how many they were."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A text of the message that is being written; of an earlier reading's only length and hash.

    Attributes:
        place: of the turn in this reading, None where an earlier reading handed it out.
    """

    length: int
    digest: int
    text: str | None = None
    place: int | None = None


class Conversation:
    """Collects the turns of one log.

    Args:
        mask: masks secrets, of every text and title before it is handed out.
        subagents: keep what agents said among themselves.
        carried: what :meth:`carried` gave at the end of an earlier reading of the same log.

    Attributes:
        line: number of the record that is being taken; set by the reading loop.
        silent: keep nothing more (the log of a sub-agent, and those are not wanted).
        notes: what the format itself must carry over; JSON values.
        turns: in order; complete after :meth:`finish`.
        stale: an earlier turn would have to change, so the log must be read anew.
    """

    def __init__(
        self, mask: Mask, *, subagents: bool = False, carried: dict[str, Any] | None = None
    ) -> None:
        before = carried or {}
        self.line = 0
        self.subagents = subagents
        self.silent: bool = before.get("silent", False)
        self.notes: dict[str, Any] = dict(before.get("notes", {}))
        self.facts: dict[str, str] = dict(before.get("facts", {}))
        self.skips: Counter[str] = Counter(before.get("skips", {}))
        self.turns: list[Turn] = []
        self.stale = False
        self._mask = mask
        self._before = before
        self._titles: dict[str, str] = dict(before.get("titles", {}))
        self._questions: dict[str, str] = dict(before.get("questions", {}))
        self._alone = False
        self._first_rank = set(before.get("first_rank", []))
        self._spare_roles = set(before.get("spare_roles", []))
        self._tags: list[str] = list(before.get("tags", []))
        self._handed_out = _unpack(before.get("seen", ""))
        self._seen = dict(self._handed_out)
        self._places: dict[str, int] = {}
        self._message: str | None = before.get("message")
        self._versions = [_Version(*pair) for pair in before.get("versions", [])]

    def say(
        self,
        role: str,
        text: str,
        said_at: object,
        *,
        key: str | None = None,
        message: str | None = None,
        asks: bool | None = None,
        spare: str = "",
        tags: tuple[str, ...] = (),
    ) -> None:
        """Something was said in the record at :attr:`line`.

        Args:
            role: ``user`` or ``assistant``.
            text: as written; a blank one says nothing.
            said_at: a time as logs write it, see :func:`moment`.
            key: the record's id; with one that was there before this is the same turn.
            message: id of a message whose text may grow from record to record.
            asks: whether what follows answers it; left out, the user's turns do.
            spare: keep it only if nothing of the first rank is said in this role of the log's.
        """
        text = text.strip()
        if not text or self.silent or spare in self._first_rank:
            return
        digest = _digest(text)
        name = None if key is None else _digest(key)
        if name is not None and self._seen.get(name) == digest:
            return
        place, repeated = self._places.get(key or ""), False
        if place is None and name is not None and name in self._handed_out:
            self.stale = True
        if place is None and message is not None and not self.stale:
            place, repeated = self._place_of_version(message, text)
        if self.stale:
            return
        if not repeated:
            turn = Turn(
                role=role,
                text=text,
                line=self.line,
                said_at=moment(said_at),
                asks=role == "user" if asks is None else asks,
                alone=self._alone,
                spare=spare,
                tags=tags,
            )
            place = self._put(turn, place)
            if message is not None:
                self._versions = [version for version in self._versions if version.place != place]
                self._versions.append(_Version(len(text), digest, text, place))
            if key is not None:
                self._places[key] = place
        if name is not None:
            self._seen[name] = digest

    def _put(self, turn: Turn, place: int | None) -> int:
        """Append a turn, or put it in the place of an earlier one; its place."""
        if place is None:
            self.turns.append(turn)
            self._alone = False
            return len(self.turns) - 1
        first = self.turns[place]
        turn.line, turn.alone = first.line, first.alone
        self.turns[place] = turn
        return place

    def outrank(self, role: str) -> None:
        """The log holds turns of the first rank in ``role``: its spare ones do not count."""
        self._first_rank.add(role)
        if role in self._spare_roles:
            self.stale = True

    def fact(self, name: str, value: object, *, first: bool = False) -> None:
        """Something about the session; the last value counts, or the first if ``first``."""
        if isinstance(value, str) and value and not (first and name in self.facts):
            self.facts[name] = value

    def title(self, rank: str, text: object) -> None:
        """A title of the session: ``custom``, ``generated`` or ``summary``; the last counts."""
        if isinstance(text, str) and text.strip():
            self._titles[rank] = one_line(self._mask([text])[0][0])

    def skipped(self, kind: str) -> None:
        """A record of a kind that nobody knows; ``""`` if it does not name one."""
        name = one_line(kind) or "(no type)"
        known = name in self.skips or len(self.skips) < MAX_SKIPPED_KINDS
        self.skips[name if known else "(others)"] += 1

    def start_alone(self) -> None:
        """What follows is another conversation: it answers no question before."""
        self._alone = True

    def finish(self) -> list[tuple[Turn, str]]:
        """Settle the turns; each with the question it answers (``""`` for none)."""
        self.turns = [turn for turn in self.turns if turn.spare not in self._first_rank]
        self._spare_roles.update(turn.spare for turn in self.turns if turn.spare)
        masked = self._mask([turn.text for turn in self.turns])
        answered: list[tuple[Turn, str]] = []
        for turn, (text, count) in zip(self.turns, masked, strict=True):
            turn.text, turn.masked = text, count
            self._tags += [tag for tag in turn.tags if tag not in self._tags]
            if turn.alone:
                self._questions.clear()
            thread = " ".join(turn.tags)
            answered.append((turn, "" if turn.asks else self._questions.get(thread, "")))
            if turn.asks:
                self._questions[thread] = one_line(turn.text)
                self._titles.setdefault("question", self._questions[thread])
        if self._alone:
            self._questions.clear()
        return answered

    @property
    def best_title(self) -> str:
        """Given by hand, else generated, else a summary, else the first question."""
        ranks = ("custom", "generated", "summary", "question")
        return next((self._titles[rank] for rank in ranks if rank in self._titles), "")

    @property
    def tags(self) -> tuple[str, ...]:
        """Of the turns of the log, those of earlier readings included."""
        return tuple(self._tags)

    @property
    def turn_count(self) -> int:
        """Turns of the log, with those of earlier readings."""
        return int(self._before.get("turn_count", 0)) + len(self.turns)

    @property
    def masked_count(self) -> int:
        """Secrets masked in them."""
        return int(self._before.get("masked", 0)) + sum(turn.masked for turn in self.turns)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last of them were said, ISO 8601; None if none has a time."""
        times = [turn.said_at for turn in self.turns if turn.said_at]
        ends = [end.isoformat() for end in (min(times), max(times))] if times else []
        ends += self._before.get("span") or []
        return (min(ends), max(ends)) if ends else None

    def carried(self) -> dict[str, Any] | None:
        """JSON by which a later reading goes on, after :meth:`finish`; None if it grew too big."""
        if len(self._seen) > MAX_REMEMBERED:
            return None
        return {
            "silent": self.silent,
            "notes": self.notes,
            "facts": self.facts,
            "titles": self._titles,
            "skips": dict(self.skips),
            "first_rank": sorted(self._first_rank),
            "spare_roles": sorted(self._spare_roles),
            "seen": _pack(self._seen),
            "message": self._message,
            "versions": [[version.length, version.digest] for version in self._versions],
            "questions": self._questions,
            "tags": self._tags,
            "turn_count": self.turn_count,
            "masked": self.masked_count,
            "span": self.span,
        }

    def _place_of_version(self, message: str, text: str) -> tuple[int | None, bool]:
        """Where an earlier, shorter version of ``text`` stands; whether ``text`` is old itself."""
        if message != self._message:
            self._message, self._versions = message, []
        for version in self._versions:
            if version.text is not None:
                if version.text.startswith(text):
                    return None, True
                if text.startswith(version.text):
                    return version.place, False
            elif len(text) < version.length:
                self.stale = True  # perhaps the beginning of what was handed out: unknown here
            elif _digest(text[: version.length]) == version.digest:
                self.stale = len(text) > version.length
                return None, not self.stale
        return None, False


def _digest(text: str) -> int:
    # 32 bits are enough: a chance match costs a needless reading from the start, or hides one
    # text in four billion that came again changed.
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _pack(seen: dict[int, int]) -> str:
    numbers = [number for pair in seen.items() for number in pair]
    return base64.b64encode(struct.pack(f">{len(numbers)}I", *numbers)).decode()


def _unpack(packed: str) -> dict[int, int]:
    data = base64.b64decode(packed)
    numbers = struct.unpack(f">{len(data) // 4}I", data)
    return dict(zip(numbers[::2], numbers[1::2], strict=True))
