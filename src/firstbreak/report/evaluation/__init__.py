"""Faces of what `firstbreak eval` found."""
