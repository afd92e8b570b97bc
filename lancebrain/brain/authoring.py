"""Notes written for someone: the file is changed first, then the index follows it.

Only in sources that are set ``writable``, only files that are notes there, and only if the file
is still the one that was meant.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.brain.folders import folder_of
from lancebrain.brain.notetext import edited, new_note, replaced
from lancebrain.errors import LancebrainError, UsageError
from lancebrain.kinds import LOGS, TEXT, extension_of, extensions
from lancebrain.types import Source

if TYPE_CHECKING:
    from lancebrain.brain.facade import Brain

_MOST_NAME_BYTES = 120
_MOST_NAMESAKES = 100
_NOT_IN_NAMES = '/\\:*?"<>|#%'


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note that was written or removed.

    Attributes:
        path: document path.
        sha256: of the file as it is now, hex; ``""`` when it was removed.
        version: of the index that was looked at for it; 0 when none could be.
        searchable: the index equals the file now.
        why: where it does not, the reason; where it does, what is wrong with it all the same.
    """

    path: str
    sha256: str
    version: int
    searchable: bool
    why: str = ""


def add_note(
    brain: Brain, title: str, text: str, *, path: str | None = None, tags: Sequence[str] = ()
) -> WrittenNote:
    """Write a new note.

    Args:
        path: document path, or a path within the writable source if there is one alone; a
            Markdown file's ending is added where there is none. None: named after the title.
        tags: go into its frontmatter.

    Raises:
        UsageError: there is such a file already, or it may not be written there.
        StoreError: the disk refused.
    """
    wanted = path if path is not None else file_name(title)
    source, document = _place(brain, wanted)
    if path is None or extension_of(document.rpartition("/")[2]) not in _endings(source):
        document = _with_ending(source, document)
    as_text = extension_of(document) in extensions(TEXT)
    data = new_note(title, text, tags, as_text=as_text).encode()
    for number in range(1, _MOST_NAMESAKES):
        numbered = document if number == 1 else _numbered(document, number)
        file = _file(brain, source, numbered)
        try:
            with folder_of(source.root, file, make=True) as folder:
                folder.create(data)
        except FileExistsError:
            if path is None:
                continue
            raise UsageError(
                f"There is a file {numbered!r} already.",
                hint="Change it with update_knowledge, or choose another path.",
            ) from None
        return _followed(brain, numbered, data)
    raise UsageError(f"There are many notes named {title!r} already.", hint="Choose a path.")


def update_note(
    brain: Brain,
    path: str,
    *,
    text: str | None = None,
    old: str | None = None,
    new: str | None = None,
    expected_hash: str | None = None,
) -> WrittenNote:
    """Change a note: all of its text, or one passage of it. Frontmatter and line ends stay.

    Args:
        path: document path.
        text: the new text; needs ``expected_hash``. One that brings no frontmatter keeps the
            file's.
        old, new: a passage that occurs once, and what takes its place.
        expected_hash: SHA-256 of the file that is meant.

    Raises:
        UsageError: the file is another than was meant, ``old`` does not occur exactly once, or
            it may not be written.
        StoreError: the disk refused.
    """
    source, document = _place(brain, path)
    with folder_of(source.root, _file(brain, source, document)) as folder:
        data = _meant(folder.read(), document, expected_hash)
        if text is not None and old is None and new is None:
            if expected_hash is None:
                raise UsageError(
                    "A whole text needs expected_hash, so that no one's change is lost.",
                    hint="Take sha256 from get_detail, or replace a passage with old and new.",
                )
            fresh = replaced(data, text)
        elif text is None and old is not None and new is not None:
            fresh = edited(data, old, new)
        else:
            raise UsageError("Give either text, or old and new.")
        if folder.read() != data:
            raise _changed(document)
        if fresh != data:
            folder.replace(fresh)
    return _followed(brain, document, fresh)


def remove_note(brain: Brain, path: str, *, expected_hash: str) -> WrittenNote:
    """Remove a note's file; the index still has it in its earlier versions.

    Args:
        path: document path.
        expected_hash: SHA-256 of the file that is meant.

    Raises:
        UsageError: the file is another than was meant, or it may not be written.
        StoreError: the disk refused.
    """
    source, document = _place(brain, path)
    with folder_of(source.root, _file(brain, source, document)) as folder:
        _meant(folder.read(), document, expected_hash)
        folder.remove()
    return _followed(brain, document, None)


def writable_sources(brain: Brain) -> list[Source]:
    """The sources that notes may be written to."""
    return [s for s in brain.settings.sources if s.writable and s.kind not in LOGS]


def file_name(title: str) -> str:
    """A file name without ending that says what the title says."""
    plain = unicodedata.normalize("NFC", title)
    kept = "".join(
        " " if c in _NOT_IN_NAMES or unicodedata.category(c)[0] in "CZ" else c for c in plain
    )
    name = " ".join(kept.split()).strip(". -~")
    return name.encode()[:_MOST_NAME_BYTES].decode(errors="ignore").strip() or "note"


def _place(brain: Brain, path: str) -> tuple[Source, str]:
    """The source that a path is to be written in, and its document path."""
    writable = {source.name: source for source in writable_sources(brain)}
    first, _, rest = path.partition("/")
    if rest and first in writable:
        return writable[first], path
    if rest and first in {source.name for source in brain.settings.sources}:
        raise UsageError(f"The source {first!r} is not writable.", hint=_how(brain, first))
    if len(writable) == 1:
        ((name, source),) = writable.items()
        return source, f"{name}/{path}"
    if not writable:
        raise UsageError("No source is writable.", hint=_how(brain, "NAME"))
    names = ", ".join(writable)
    raise UsageError(f"{path!r} names no writable source.", hint=f"Begin the path with: {names}.")


def _how(brain: Brain, name: str) -> str:
    config = brain.settings.config_file
    if config is not None:
        where = f"in {config}"
    else:
        where = "in a lancebrain.toml (made by `lancebrain init`)"
    return f"The owner can allow it: writable = true for the source {name} {where}."


def _endings(source: Source) -> frozenset[str]:
    return extensions(source.kind)


def _with_ending(source: Source, document: str) -> str:
    return document + (".txt" if source.kind == TEXT else ".md")


def _numbered(document: str, number: int) -> str:
    stem, dot, ending = document.rpartition(".")
    return f"{stem} {number}{dot}{ending}"


def _file(brain: Brain, source: Source, document: str) -> Path:
    """The file of a document that may be written.

    Raises:
        UsageError: it leads elsewhere, or would be no document.
    """
    from lancebrain.sources import file_of
    from lancebrain.sources.wanted import WantedNames

    if document.endswith("/"):
        raise UsageError(f"{document!r} is a folder.", hint="Name a file in it.")
    file = Path(file_of(source, document))
    if any(part.startswith(".") for part in file.relative_to(source.root).parts):
        # Programs keep there what they obey: a note must not become an order.
        raise UsageError(
            f"{document!r} is hidden, and hidden files are not written.", hint="No leading dots."
        )
    if not WantedNames(source).has(file.name):
        endings = ", ".join(sorted(_endings(source)))
        raise UsageError(f"{document!r} is no note.", hint=f"Notes end in one of: {endings}.")
    if _is_left_out(brain, source, document, file):
        raise UsageError(
            f"{document!r} would not be indexed: the rules of the source leave it out.",
            hint="Choose another path, in a folder that has notes.",
        )
    return file


def _is_left_out(brain: Brain, source: Source, document: str, file: Path) -> bool:
    """Whether no look would take a file, by its name and place."""
    from lancebrain.sources import IgnoreRules
    from lancebrain.store.forgotten import Forgotten

    settings = brain.settings
    rules = IgnoreRules(
        source,
        gitignore=settings.gitignore,
        index_folder=settings.index,
        other_roots=[other.root for other in settings.sources if other is not source],
    )
    is_forgotten = Forgotten(brain._access.storage()).matcher()
    return rules.is_ignored(file, is_dir=False) or bool(is_forgotten and is_forgotten(document))


def _meant(data: bytes | None, document: str, expected_hash: str | None) -> bytes:
    if data is None:
        raise UsageError(
            f"There is no file {document!r}.",
            hint="Find its path with search_knowledge, or make it with add_knowledge.",
        )
    if expected_hash is not None and _hash(data) != expected_hash.strip().lower():
        raise _changed(document)
    return data


def _changed(document: str) -> UsageError:
    return UsageError(
        f"{document!r} is not the file that expected_hash names: it has changed in between.",
        hint="Read it again with get_detail and apply the change to what it says now.",
    )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _followed(brain: Brain, document: str, data: bytes | None) -> WrittenNote:
    """Bring the index up to one file, and tell whether it is.

    The file is changed by now, so that what keeps the index from following is no error.
    """
    sha256 = "" if data is None else _hash(data)
    try:
        store = brain._access.made_store()
        gone = () if data is not None else (document,)
        report = brain._access.engine().sync([document], seen_gone=gone)
        snapshot = store.snapshot()
        row = snapshot.stats([document]).get(document)
        is_held = store.hold.is_set()
    except LancebrainError as error:
        return WrittenNote(document, sha256, version=0, searchable=False, why=str(error))
    version = snapshot.version
    if ("" if row is None else row.sha256) == sha256:
        why = report.problems[0].message if report.problems else ""
        return WrittenNote(document, sha256, version, searchable=True, why=why)
    if is_held:
        why = "the index is held at an earlier version: `lancebrain resume` lets it follow again"
    elif report.problems:
        why = report.problems[0].message
    else:
        why = "the rules of the source leave this file out of the index"
    return WrittenNote(document, sha256, version, searchable=False, why=why)
