"""What the settings call this process' shard: checked before anything begins, since it ends up in files and caches."""

import re
from urllib.parse import urlsplit

from controllers.urls import UnusableUrl, virtual_workspace_url
from informers.api.errors import ConfigurationError
from kcpctl.settings import RunSettings, flag

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,59}[a-z0-9])?", re.ASCII)
"""What both may be called so: an object, and a shard in a cache server's paths."""
_URLS = ("shard_base_url", "shard_external_url", "shard_virtual_workspace_url")


def check_name(settings: RunSettings) -> None:
    """Raise `ConfigurationError` for a name that no shard can have."""
    if not _NAME.fullmatch(settings.shard_name):
        raise ConfigurationError(
            "expected a name of at most 61 characters of a-z, 0-9 and -, such as amber, for --shard-name, "
            f"found {settings.shard_name!r}"
        )


def check_urls(settings: RunSettings) -> list[str]:
    """Return the URLs that the settings name; raises `ConfigurationError` for one that nobody could use."""
    found = {name: url for name in _URLS if (url := getattr(settings, name))}
    for name, url in found.items():
        if not _is_usable(url):
            raise ConfigurationError(
                f"expected a URL such as https://a.example.com:6443 for {flag(name)}, found {url!r}"
            )
    return list(found.values())


def _is_usable(url: str) -> bool:
    try:
        virtual_workspace_url(url, "cluster", "export")
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except (UnusableUrl, ValueError):
        return False
