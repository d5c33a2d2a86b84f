"""Causes, one file a link: what ties findings together, and which experiment would prove it."""
