"""Scores of the fault benchmark: what is said of recorded runs, against what was done to them."""
