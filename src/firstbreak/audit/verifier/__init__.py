"""Puts null answers, formats and equivalent answers to a verifier, and counts what it lets through."""
