"""Invariants of a loss on token batches, put to the trainer's own code without training."""
