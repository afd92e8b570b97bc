"""What is left out of every source without being told.

Hidden files and folders are ordinary otherwise: notes live in ``.github`` and ``.claude`` too.
"""

from __future__ import annotations

NEVER = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
"""Folders of version control. Nothing takes them in."""

FOLDERS = frozenset(
    {
        # dependencies and caches
        "node_modules", "bower_components", "__pycache__", ".venv", "venv", ".tox", ".nox",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".cache",
        ".ipynb_checkpoints",
        # settings and trash of editors and note apps
        ".obsidian", ".trash", ".Trash", ".logseq", ".idea", ".vscode", ".vs",
        # copies and bookkeeping of sync tools
        ".stversions", ".stfolder", ".sync", ".dropbox.cache", ".tmp.drivedownload",
        ".tmp.driveupload",
        # of operating systems
        ".Trashes", ".Spotlight-V100", ".fseventsd", ".TemporaryItems", "$RECYCLE.BIN",
        "System Volume Information", "lost+found",
    }
)  # fmt: skip
"""Folders that are out unless ``.lancebrainignore`` or ``exclude`` take them in (``!venv/``)."""

TEMPORARY_PREFIXES = (
    ".#",  # Emacs: lock
    "._",  # macOS: resource fork beside a file on a foreign drive
    "~$",  # Office: lock
    ".~",  # LibreOffice: lock; Nextcloud: download
    ".!",  # lftp and others: .!1234!name while it arrives
    ".syncthing.",
    "~syncthing~",
    ".goutputstream-",
    ".nfs0",
    ".fuse_hidden",
)
"""How names of temporary files begin that may still end in ``.md``.

Those that end otherwise (``note.md~``, ``.note.md.swp``, ``note.md.part``, ``#note.md#``) are out
because the extension is none of a note. A conflict copy (``note.sync-conflict-….md``) is in: it may
be the only place of an edit.
"""

EMPTY_ROOT = frozenset(
    {
        ".DS_Store", ".localized", ".Trashes", ".Spotlight-V100", ".fseventsd", ".TemporaryItems",
        "Thumbs.db", "desktop.ini", "$RECYCLE.BIN", "System Volume Information", "lost+found",
    }
)  # fmt: skip
"""What a system puts into a folder by itself: a root with nothing else is empty, which is also how
a mount point looks when its drive is away."""
