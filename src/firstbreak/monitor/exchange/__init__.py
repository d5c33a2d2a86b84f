"""What an environment and a trainer exchange, and what is asked of it: the parts of `World`."""
