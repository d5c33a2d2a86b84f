"""Trials in child processes with limits: on this machine, or on the machines of a Ray cluster."""
