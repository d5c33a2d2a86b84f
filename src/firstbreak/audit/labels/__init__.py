"""Human labels of samples: which to look at first, where they are kept, and how far labellers agree."""
