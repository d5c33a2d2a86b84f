"""What a rung is, what a training on it showed, how that is judged, and in which order rungs are climbed."""
