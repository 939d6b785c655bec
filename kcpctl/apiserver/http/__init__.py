"""The API server over HTTP, and beside it: sockets, media types, discovery, documents, identities."""
