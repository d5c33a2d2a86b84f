"""Other interfaces behind the Gymnasium API of a single environment: reset -> (obs, info), step -> five values."""
