"""Checks of token losses; one file each, the folder is the registry."""
