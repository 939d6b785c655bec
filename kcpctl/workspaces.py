"""`kcpctl workspace create`: have the running process of a data directory make a workspace."""

from pathlib import Path

from informers.api import clusters
from informers.api.errors import ConfigurationError
from kcpctl.control import ask

CREATE = "workspace.create"
"""What the process is asked; it answers with the context's name and the kubeconfig's path."""


def create(path: str, data_dir: Path) -> int:
    """Make a workspace and say how to use it; raises `ConfigurationError` with what the process says no with."""
    check_path(path)
    made = ask(data_dir, CREATE, path=path)
    print(f"workspace {path} is logical cluster {made['cluster']}; use it with")
    print(f"  kubectl --kubeconfig {made['kubeconfig']} config use-context {made['context']}")
    return 0


def check_path(path: str) -> None:
    """Raise `ConfigurationError` unless it is the path of a workspace that could be made below another one."""
    parent, name = clusters.split(path)
    if not clusters.is_path(path) or not parent or not name:
        raise ConfigurationError(
            "expected a workspace path such as root:org:team (words of a-z, 0-9 and -, joined by colons), "
            f"found {path!r}"
        )
