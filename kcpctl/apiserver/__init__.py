"""An API server that real clients cannot tell from kube-apiserver: product and test server at once."""
