"""Checks of a memory plan; one file each, the folder is the registry."""
