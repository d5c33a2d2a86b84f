"""Rules of the link `data_freshness`, one file each."""
