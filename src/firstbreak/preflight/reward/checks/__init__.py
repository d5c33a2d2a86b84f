"""preflight/reward/checks"""
