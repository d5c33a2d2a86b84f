"""Rules of the link `reward_signal`, one file each."""
