"""Fault runs: whole processes under random faults, and proof from full histories that nothing published was lost."""
