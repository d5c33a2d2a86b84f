"""Rules of the link `exploration`, one file each."""
