"""Protobuf bodies of built-in kinds: read only, driven by the tables of `shapes`."""
