"""What a shard cannot be called is one line, before anything begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.api.errors import ConfigurationError
from kcpctl.apiserver.kcp.scope import CacheScoping
from kcpctl.identity import check_name, check_urls
from kcpctl.settings import RunSettings


@pytest.mark.parametrize("name", ["Amber", "a b", "a.b", "a:b", "*", "-a", "a-", "a" * 62, "ä", "a\n", ""])
def test_a_name_that_no_shard_can_have_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"such as amber, for --shard-name, found ") as caught:
        check_name(RunSettings(shard_name=name))

    assert "\n" not in str(caught.value)


@given(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,59}[a-z0-9])?", fullmatch=True))
async def test_a_name_that_is_taken_leads_to_its_place_in_a_cache_server(name: str) -> None:
    check_name(RunSettings(shard_name=name))

    assert (await CacheScoping()(f"/shards/{name}/clusters/root/api")).scope.shard == name


@pytest.mark.parametrize(
    "url",
    [
        "a.example.com",
        "ftp://a",
        "https://",
        "https://a b",
        "https://[::1",
        "https://a:port",
        "https://a:0",
        "https://a%",
    ],
)
@pytest.mark.parametrize("setting", ["shard_base_url", "shard_external_url", "shard_virtual_workspace_url"])
def test_a_url_that_nobody_could_use_is_refused_by_its_flag(setting: str, url: str) -> None:
    flag = "--" + setting.replace("_", "-")

    with pytest.raises(ConfigurationError, match=f"expected a URL such as https://.* for {flag}, found ") as caught:
        check_urls(RunSettings(**{setting: url}))  # type: ignore[arg-type]

    assert url in str(caught.value)


def test_urls_that_can_be_used_are_all_returned() -> None:
    settings = RunSettings(shard_base_url="https://a.example.com:6443", shard_external_url="https://[::1]/below")

    assert check_urls(settings) == ["https://a.example.com:6443", "https://[::1]/below"]
