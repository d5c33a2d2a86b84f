"""Readers, one file a format. See `protocol`."""
