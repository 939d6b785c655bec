"""Values that describe Kubernetes objects, collections and failures: no I/O, no logging."""
