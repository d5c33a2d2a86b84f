"""Pairwise accuracy, length bias, calibration and drift of a reward model."""
