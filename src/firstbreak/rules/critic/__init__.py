"""Rules of the link `critic`, one file each."""
