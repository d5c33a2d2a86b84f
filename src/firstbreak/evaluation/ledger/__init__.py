"""The ledger of looks: every score on every split, in a chain that shows when something was changed."""
