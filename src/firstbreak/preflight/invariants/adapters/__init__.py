"""Turning trainers of known make into `Pieces`, through their own methods so that an overridden method is seen."""
