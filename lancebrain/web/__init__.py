"""The page: the index for people, in a browser on this computer."""
