"""Evaluation: what a score was measured under, who looked, what leaked, and what its uncertainty is."""
