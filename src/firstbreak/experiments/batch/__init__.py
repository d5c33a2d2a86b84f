"""What the experiments on samples and saved batches share: scorers, generators, precision, replay."""
