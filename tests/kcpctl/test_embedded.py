"""The embedded shard, without controllers."""

from pathlib import Path

import pytest

from informers.api.errors import ConfigurationError
from kcpctl.embedded import embedded
from kcpctl.settings import RunSettings


async def test_whoever_makes_a_workspace_is_told_of_a_kubeconfig_that_can_be_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with embedded(RunSettings(port=0, in_memory=True, data_dir=Path("data"))) as shard:
        made = await shard.create_workspace("root:team")

        assert made["kubeconfig"] == str(tmp_path / "data" / "admin.kubeconfig")
        with pytest.raises(ConfigurationError, match="expected a path that is not taken"):
            await shard.create_workspace("root:team")
