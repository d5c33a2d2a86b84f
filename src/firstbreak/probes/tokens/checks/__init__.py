"""Rungs of the ladder for trainers of language models; one file each, the folder is the registry."""
