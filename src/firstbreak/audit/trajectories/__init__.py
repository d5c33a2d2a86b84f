"""Control trajectories as samples: episodes of numbers, read from npz files and Minari data sets."""
