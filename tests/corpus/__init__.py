"""Labelled real runs and reported cases: how good the answers are (correctness is tested elsewhere)."""
