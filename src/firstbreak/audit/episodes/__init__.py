"""Whole episodes of agents: their calls, what they claim, and from where they were lost."""
