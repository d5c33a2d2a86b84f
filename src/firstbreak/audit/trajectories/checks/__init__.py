"""Checks of recorded episodes of control, one file each; their subject is a `Record`."""
