"""preflight/task/checks"""
