"""Checks of agents: tool calls, turns and what the environment says at the end."""
