"""Contamination: which evaluation prompts the training data holds, exactly, nearly or in part."""
