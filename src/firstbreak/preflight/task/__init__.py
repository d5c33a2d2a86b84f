"""Task preflight: is there a gap to close, can it be seen from the start, and is the goal within reach?"""
