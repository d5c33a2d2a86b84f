"""Watching the log of a trainer that nobody changed: what lies there, how it moves, what the rules say of it."""
