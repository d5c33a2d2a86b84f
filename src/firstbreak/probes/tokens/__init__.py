"""Tasks with a known answer for trainers of language models, on a tiny local model."""
