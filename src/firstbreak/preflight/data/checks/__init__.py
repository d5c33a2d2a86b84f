"""Checks of data files; one file each, the folder is the registry."""
