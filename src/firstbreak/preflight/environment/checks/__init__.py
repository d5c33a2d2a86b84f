"""preflight/environment/checks"""
