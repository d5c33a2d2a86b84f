"""Checks of samples; one file each, the folder is the registry."""
