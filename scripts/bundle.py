"""Pack the server as one file that programs install with a click: ``dist/lancebrain-….mcpb``.

The file is an archive of ``bundle/`` and of the package itself; the program that installs it
brings Python and the packages that ``pyproject.toml`` names. See
https://github.com/modelcontextprotocol/mcpb for the format.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
_BESIDE = ("pyproject.toml", "README.md", "LICENSE")
_MADE_AT = (1980, 1, 1, 0, 0, 0)
"""The same content is the same file, whenever it is packed."""


def pack(folder: Path) -> Path:
    """Write the bundle into a folder, and return its file."""
    version = json.loads((PROJECT / "bundle" / "manifest.json").read_text("utf-8"))["version"]
    files = {path.name: path for path in (PROJECT / "bundle").iterdir() if path.is_file()}
    files |= {name: PROJECT / name for name in _BESIDE}
    for path in (PROJECT / "lancebrain").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(PROJECT).as_posix()] = path
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"lancebrain-{version}.mcpb"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            about = zipfile.ZipInfo(name, _MADE_AT)
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, path.read_bytes())
    return target


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT / "dist"))
