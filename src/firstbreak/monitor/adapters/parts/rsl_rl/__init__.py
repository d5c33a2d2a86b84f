"""What the adapter of rsl_rl looks at."""
