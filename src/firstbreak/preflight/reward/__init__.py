"""Reward preflight: does the reward say something, the right thing, and can it be learnt from?"""
