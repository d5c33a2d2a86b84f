"""Checks of verifiers; one file each, the folder is the registry."""
