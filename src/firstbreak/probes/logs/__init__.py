"""What a black-box script writes while it trains: read with the readers of `diagnose`, judged by its rules."""
