"""The server that agents talk to: translates the facade into tools, resources and prompts.

Nothing here decides what is found or written; it waits, words, fences and bounds. ``server``
builds the server, ``stdio`` and ``http`` run it, ``hosts`` tells programs about it.
"""
