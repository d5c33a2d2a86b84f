"""Faces of a diagnosis: pure functions from `Diagnosis` to text, html, json, markdown, junit, github annotations."""
