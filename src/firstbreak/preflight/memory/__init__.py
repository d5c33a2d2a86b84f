"""Memory before a run: a ledger of what lies on one GPU in each phase, what fits, and what to change first."""
