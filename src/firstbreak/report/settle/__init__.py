"""The faces of `firstbreak settle`."""
