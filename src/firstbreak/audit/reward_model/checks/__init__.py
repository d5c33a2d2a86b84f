"""Checks of reward models; one file each, the folder is the registry."""
