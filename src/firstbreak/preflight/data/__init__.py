"""Data before a run: files of preference pairs, prompts, answers or tokens, read once in bounded memory."""
