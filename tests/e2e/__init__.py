"""Short real trainings, each with one injected fault, and their unbroken twins. Run by `make test-full`."""
