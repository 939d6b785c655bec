"""Which key is visited when."""
