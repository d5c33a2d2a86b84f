"""The faces of labelling: a screen of the terminal, and a page that needs no server."""
