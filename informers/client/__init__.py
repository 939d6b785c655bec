"""Talking to one API server: transport, wire format, credentials and the verbs."""
