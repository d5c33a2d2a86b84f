"""Scores per item or per episode: read from files, summed up, compared."""
