"""Where objects are kept: one small protocol, several engines."""
