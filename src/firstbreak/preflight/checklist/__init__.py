"""The checklist before a run: every row ends in pass, fail or not looked at."""
