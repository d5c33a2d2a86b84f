"""The faces of a release, and of what a run was: text, one HTML page, JSON."""
