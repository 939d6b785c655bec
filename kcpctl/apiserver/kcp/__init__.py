"""kcp's part of the API server: logical clusters, workspaces, its kinds with their rules, and its cache server."""
