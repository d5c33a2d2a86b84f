"""Rules of the link `environment_data`, one file each."""
