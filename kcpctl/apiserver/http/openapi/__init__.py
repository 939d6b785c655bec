"""OpenAPI v3: a document for each served group-version, and the index of them."""
