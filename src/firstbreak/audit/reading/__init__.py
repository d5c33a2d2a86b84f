"""Reads behaviour samples: data files of one's own and the dumps of the frameworks, one row at a time."""
