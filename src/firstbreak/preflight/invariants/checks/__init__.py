"""One file per invariant; the folder is the registry. Each takes a `Bench` and looks at what the trainer does."""
