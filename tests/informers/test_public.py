"""The public API: what its names are, and what importing it costs."""

import subprocess
import sys

import informers

PUBLIC = """
    AlreadyExists ApiError Backed ByIndex CacheError Client Clock Cluster Condition ConfigurationError Conflict
    Controller EventFilter EveryKey Evidence Exponential History Incomplete InformersError Key LabelSelector Lister
    ListerPair Manager NotFound NotSynced Notice Object Observer Outcome Owner OwnerReference OwnershipError
    PatchKind RateLimiter Read Reconciled Resource Result Retried Scope Server SharedInformer Slowest
    SystemClock TerminalError TokenBucket TransportError Undone VirtualClock WarningReceived Watch WorkQueue Write
    annotations_changed being_deleted by_label by_namespace by_owner_uid by_path controller created deleted
    event_filter field_changed generation_changed labels_changed load_kubeconfig matches old_and_new
    owned_by rv_changed same_key
"""

HEAVY = ("aiohttp", "cryptography", "jsonschema_rs", "kubernetes_asyncio", "structlog", "tenacity", "yaml", "yarl")


def test_the_public_names_are_these_and_only_change_on_purpose() -> None:
    assert sorted(informers.__all__) == sorted(PUBLIC.split())
    assert all(getattr(informers, name).__doc__ for name in PUBLIC.split() if name != "RateLimiter")


def test_importing_the_framework_brings_none_of_the_heavy_libraries() -> None:
    program = f"import sys, informers; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
