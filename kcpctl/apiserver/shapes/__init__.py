"""The built-in API types as data: one table that JSON reading, protobuf reading and published schemas share."""
