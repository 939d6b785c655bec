"""CustomResourceDefinitions: what they are, how they come to be served and how they go, and the kinds they define."""
