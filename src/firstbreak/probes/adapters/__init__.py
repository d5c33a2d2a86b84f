"""Ways to reach a trainer: a function, an SB3 algorithm, a TorchRL loss and collector, a script."""
