"""What the adapter of Stable-Baselines3 looks at."""
