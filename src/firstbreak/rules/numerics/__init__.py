"""Rules of the link `numerics`, one file each."""
