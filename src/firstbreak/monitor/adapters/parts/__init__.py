"""What adapters look at, one idea a file; `sb3.py` and its like join these to a framework."""
