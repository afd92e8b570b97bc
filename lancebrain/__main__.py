"""``python -m lancebrain``: the same as the program ``lancebrain``."""

from lancebrain.cli.main import main

if __name__ == "__main__":
    main()
