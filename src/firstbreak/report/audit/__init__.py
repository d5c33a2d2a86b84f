"""The faces of samples: side by side in the terminal and on a page. The only place where a user's texts are shown."""
