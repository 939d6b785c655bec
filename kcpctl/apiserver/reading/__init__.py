"""Reads: get, list and watch, with kube-apiserver's resourceVersion semantics."""

from kcpctl.apiserver.reading.getting import get
from kcpctl.apiserver.reading.listing import Items, ListResult, list_
from kcpctl.apiserver.reading.streaming import list_head, stream_list
from kcpctl.apiserver.reading.watching import Watch, watch

__all__ = ["Items", "ListResult", "Watch", "get", "list_", "list_head", "stream_list", "watch"]
