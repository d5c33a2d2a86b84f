"""What the adapter of TorchRL looks at."""
