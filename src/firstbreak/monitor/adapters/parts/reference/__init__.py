"""What the adapter of the reference trainers looks at."""
