"""Experiments that train a language model for a few updates, with one setting changed."""
