"""The environments of the ladder: tables of states, rewards and successors, played by one small fast class."""
