"""``python -m lancebrain``: the same as the program ``lancebrain``."""

from lancebrain.cli.entry import main

if __name__ == "__main__":
    main()
