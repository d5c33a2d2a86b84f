"""Rules of the link `system_resources`, one file each."""
