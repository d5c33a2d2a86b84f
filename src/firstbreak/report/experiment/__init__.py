"""The faces of an experiment: text for people, JSON for programs."""
