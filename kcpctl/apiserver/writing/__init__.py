"""The verbs that change objects: create, update, patch, delete, deletecollection."""

from kcpctl.apiserver.writing.verbs import create, delete, delete_collection, patch, update
from kcpctl.apiserver.writing.written import Deleted, Written

__all__ = ["Deleted", "Written", "create", "delete", "delete_collection", "patch", "update"]
