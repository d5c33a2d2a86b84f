"""Trainings on the ladder's environments: in child processes with limits, or in this process for tests."""
