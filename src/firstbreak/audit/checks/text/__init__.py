"""Checks of rewards, scores and texts."""
