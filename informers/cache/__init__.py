"""Keeping stores equal to collections on a server, and reading from them."""
