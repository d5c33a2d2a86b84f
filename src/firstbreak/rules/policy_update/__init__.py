"""Rules of the link `policy_update`, one file each."""
