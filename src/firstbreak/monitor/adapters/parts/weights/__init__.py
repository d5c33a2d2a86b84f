"""Weights, gradients and optimiser steps, of whichever framework."""
