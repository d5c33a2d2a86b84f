"""One file, one experiment. The folder is the registry (see `firstbreak.experiments`)."""
