"""The evaluation protocol: everything a score was measured under, in one file with one fingerprint."""
