"""The error tree: a wrong call or a broken store, told so that a person can act on it.

Bad user data (an unreadable note, broken frontmatter) is never an error: it is a
:class:`lancebrain.types.Problem`, reported as a value while the rest goes on.

    LancebrainError                  exit code 1
    ├── UsageError                   2   the call cannot be meant: unknown key, bad reference
    │   └── ConfigError              2   a configuration file or variable is wrong
    ├── IndexNotFoundError          10   there is no index yet at this place
    ├── IndexLockedError            11   another process holds the lock past the time allowed
    ├── StoreError                   1   it cannot be read or written: permissions, or no room
    │   ├── DamagedError             1   what is on the disk cannot be understood
    │   ├── UnreachableError         1   it is on object storage that does not answer now
    │   └── IndexMismatchError       1   the index was made with another model or version
    └── EmbedderError                1   a model is missing, fails to load, or fails on a text
        └── ModelUnavailableError    1   it cannot be had now, and may be later
"""

from __future__ import annotations

from typing import ClassVar


class LancebrainError(Exception):
    """What went wrong, and what to do next.

    Args:
        message: one sentence with what and where.
        hint: the next action, as a sentence or a command; may be empty.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(LancebrainError):
    """The call itself is wrong; nothing was done."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file, variable or flag holds a wrong value or an unknown key."""


class IndexNotFoundError(LancebrainError):
    """No index exists at the place that was named."""

    exit_code = 10


class IndexLockedError(LancebrainError):
    """Another process held the index lock for longer than the caller would wait."""

    exit_code = 11


class StoreError(LancebrainError):
    """The store cannot be read or written: damage, permissions, or no room."""


class DamagedError(StoreError):
    """What is on the disk is not what was written there."""


class UnreachableError(StoreError):
    """Object storage does not answer; what was being written may be there or not."""


class IndexMismatchError(StoreError):
    """The index was built by another model, chunking or schema version."""


class EmbedderError(LancebrainError):
    """An embedding model is missing, cannot be loaded, or failed on its input."""


class TextsRefusedError(EmbedderError):
    """A model failed on some texts by themselves; all others have their vectors.

    Args:
        path: of the first of the documents that hold them.
    """

    def __init__(self, message: str, *, path: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ModelUnavailableError(EmbedderError):
    """A model cannot be had now: its server is down, or it has too little to learn from.

    Texts are taken in all the same, and wait for their vectors.
    """
