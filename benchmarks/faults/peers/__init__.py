"""Other tools on the same runs: each in its own interpreter, fed fairly and in its own format."""
