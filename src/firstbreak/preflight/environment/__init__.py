"""preflight/environment"""
