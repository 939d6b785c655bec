"""Structural schemas: what custom resources may look like, and what happens to what they may not contain."""
