"""What the adapter of TRL looks at."""
