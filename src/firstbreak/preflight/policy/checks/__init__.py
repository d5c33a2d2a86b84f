"""preflight/policy/checks"""
