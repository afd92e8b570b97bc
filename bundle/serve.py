"""Where the bundle begins: the folders that its user chose become sources, and are served."""

from __future__ import annotations

import json
import os
import sys

from lancebrain.cli.entry import main

writable = os.environ.pop("NOTES_WRITABLE", "") == "true"
sources = [{"root": folder, "writable": writable} for folder in sys.argv[1:]]
os.environ["LANCEBRAIN_SOURCES"] = json.dumps(sources)
main(["serve"])
