"""Processes that tests of one module share."""

from collections.abc import Iterator

import pytest

from tests.e2e.processes import Kubectl, Running, running


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A shard with its cache server and our controllers, as `kcpctl run` starts it."""
    with running("run", tmp_path_factory.mktemp("shard") / "data") as process:
        yield process


@pytest.fixture
def kubectl(shard: Running) -> Kubectl:
    """kubectl in the current context, `root:example`."""
    return shard.kubectl()
