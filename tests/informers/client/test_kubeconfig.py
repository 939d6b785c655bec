import base64
import os
import re
import subprocess
import sys

import pytest
import yaml

from informers.api.errors import ConfigurationError
from informers.client.credentials import Anonymous, BasicPassword, BearerToken
from informers.client.exec_plugin import ExecPlugin
from informers.client.kubeconfig import load
from informers.client.oidc import Oidc
from informers.client.token_file import TokenFile
from tests.informers.client.certificates import Authority

NOWHERE = {"KUBECONFIG": ""}


def config(*, context="red", cluster=None, user=None, names=("red",), **more):
    """Return a kubeconfig with one cluster, user and context for each name."""
    cluster = {"server": "https://red.example.com:6443"} if cluster is None else cluster
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": name, "cluster": cluster} for name in names],
        "users": [{"name": name, "user": {"token": f"token-{name}"} if user is None else user} for name in names],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **more}} for name in names],
    }


@pytest.fixture
def written(tmp_path):
    """Write kubeconfigs, and return their paths."""

    def write(found, name="config"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found if isinstance(found, str) else yaml.safe_dump(found))
        return str(path)

    return write


async def authorization(found):
    return (await found.credentials.headers()).get("Authorization")


def test_importing_it_does_not_import_the_library():
    code = "import sys, informers.client.kubeconfig; sys.exit('kubernetes_asyncio' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_the_current_context_is_taken_unless_another_is_named(written):
    path = written(config(context="blue", names=("red", "blue"), namespace="n1"))

    current, named = load(path), load(path, "red")

    assert (current.context, await authorization(current)) == ("blue", "Bearer token-blue")
    assert (named.context, await authorization(named)) == ("red", "Bearer token-red")
    assert (named.address, named.namespace) == ("https://red.example.com:6443", "n1")


async def test_of_several_files_the_first_to_name_something_wins(written):
    first = config(context="", cluster={"server": "https://first"}, names=("red",))
    second = config(context="blue", cluster={"server": "https://second"}, names=("red", "blue"))
    third = config(context="red", cluster={"server": "https://third"}, names=("blue", "green"))
    paths = [written(one, name) for name, one in (("a", first), ("b", second), ("empty", "\n"), ("c", third))]
    environment = {"KUBECONFIG": os.pathsep.join([*paths, "", "/no/such/file"])}

    found = {name: load(context=name, environment=environment).address for name in ("red", "blue", "green")}

    assert found == {"red": "https://first", "blue": "https://second", "green": "https://third"}
    assert load(environment=environment).context == "blue"


async def test_relative_paths_start_at_the_file_that_has_them(written):
    red = config(user={"tokenFile": "secrets/token"})
    written("one\n", "first/secrets/token")
    written("two\n", "second/secrets/token")
    paths = [written(config(names=()), "first/config"), written(red, "second/config")]

    found = load(environment={"KUBECONFIG": os.pathsep.join(paths)})

    assert await authorization(found) == "Bearer two"


async def test_a_context_without_a_user_is_nobody(written):
    found = config()
    del found["contexts"][0]["context"]["user"]
    del found["users"]

    loaded = load(written(found))

    assert isinstance(loaded.credentials, Anonymous)
    assert await authorization(loaded) is None


@pytest.mark.parametrize(
    ("user", "kind", "header"),
    [
        ({"token": "t\n"}, BearerToken, "Bearer t"),
        ({"token": "t", "tokenFile": "/no/such/file"}, TokenFile, "Bearer t"),
        ({"username": "u", "password": "p"}, BasicPassword, "Basic dTpw"),
        ({"token": "t", "username": "u", "password": "p"}, BearerToken, "Bearer t"),
        ({}, Anonymous, None),
    ],
)
async def test_each_way_to_authenticate_has_its_credentials(written, user, kind, header):
    found = load(written(config(user=user)))

    assert isinstance(found.credentials, kind)
    assert await authorization(found) == header


async def test_a_certificate_by_data_goes_before_the_same_by_file(written, tmp_path):
    authority = Authority()
    issued = authority.issue("red")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    user = {
        "client-certificate": "/no/such/file",
        "client-certificate-data": base64.b64encode(issued.certificate).decode(),
        "client-key-data": base64.b64encode(issued.key).decode(),
    }
    cluster = {"server": "https://red", "certificate-authority": "ca.crt"}

    context = await load(written(config(user=user, cluster=cluster))).credentials.ssl_context()

    assert context.get_ca_certs()[0]["subject"] == ((("commonName", "test authority"),),)


async def test_loading_leaves_no_descriptor_open(written):
    """The library's own loader leaves three open each time, and the key in the temporary folder."""
    issued = Authority().issue("red")
    user = {
        "client-certificate-data": base64.b64encode(issued.certificate).decode(),
        "client-key-data": base64.b64encode(issued.key).decode(),
    }
    path = written(config(user=user))
    await load(path).credentials.ssl_context()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    for _ in range(10):
        await load(path).credentials.ssl_context()

    assert not before or len(os.listdir("/proc/self/fd")) <= before


async def test_what_a_cluster_says_of_its_connection_is_taken_over(written):
    cluster = {
        "server": "https://10.0.0.1",
        "tls-server-name": "api.example.com",
        "proxy-url": "http://proxy:3128",
        "insecure-skip-tls-verify": True,
    }

    found = load(written(config(cluster=cluster)))

    assert (found.tls_server_name, found.proxy) == ("api.example.com", "http://proxy:3128")
    assert (await found.credentials.ssl_context()).check_hostname is False


async def test_the_environments_proxy_is_used_where_the_cluster_names_none(written):
    path = written(config())

    assert load(path, environment={"HTTPS_PROXY": "http://proxy:3128"}).proxy == "http://proxy:3128"
    assert load(path, environment={"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "example.com"}).proxy is None


async def test_an_exec_plugin_is_told_of_its_cluster(written, tmp_path):
    script = tmp_path / "bin" / "plugin"
    script.parent.mkdir()
    script.write_text(
        f"""#!{sys.executable}
import json, os, sys
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
token = "-".join([*sys.argv[1:], os.environ["COLOUR"], info["spec"]["cluster"]["server"],
                  info["spec"]["cluster"]["config"]["audience"], *sorted(info["spec"]["cluster"])])
print(json.dumps({{"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": {{"token": token}}}}))
"""
    )
    script.chmod(0o755)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./bin/plugin",
            "args": ["login"],
            "env": [{"name": "COLOUR", "value": "red"}],
            "interactiveMode": "Never",
            "provideClusterInfo": True,
        }
    }
    cluster = {
        "server": "https://red",
        "certificate-authority-data": base64.b64encode(Authority().pem).decode(),
        "extensions": [
            {"name": "other", "extension": {"audience": "wrong"}},
            {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}},
        ],
    }

    found = load(written(config(user=user, cluster=cluster)))

    assert isinstance(found.credentials, ExecPlugin)
    assert await authorization(found) == ("Bearer login-red-https://red-x-certificate-authority-data-config-server")


async def test_an_oidc_user_has_the_tokens_of_the_last_login(written):
    payload = base64.urlsafe_b64encode(b'{"name":"\xc3\xbf??>>~~"}').decode().rstrip("=")
    provider = {
        "name": "oidc",
        "config": {"idp-issuer-url": "https://idp", "client-id": "kube", "id-token": f"a.{payload}.c"},
    }

    found = load(written(config(user={"auth-provider": provider})))

    assert isinstance(found.credentials, Oidc)
    assert await authorization(found) == f"Bearer a.{payload}.c"


def explained(path, context=None, **environment):
    """Return the one line that says why there is no answer."""
    with pytest.raises(ConfigurationError) as raised:
        load(path, context, environment=environment)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_an_unknown_context_lists_those_that_are_there(written, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = written(config(names=("root", "base")))

    assert explained(path, "amber") == (
        "expected a kubeconfig with a context named 'amber' in ~/config, found contexts 'root', 'base'; "
        "pass --context root or --context base"
    )


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert "expected a kubeconfig at ~/x, found: No such file or directory" in explained("~/x")
    assert "expected a kubeconfig at ~/.kube/config, found: No such file or directory" in explained(None)
    assert "expected a kubeconfig at /a, /b (KUBECONFIG), found no such file" in explained(
        None, KUBECONFIG=os.pathsep.join(["/a", "/b"])
    )
    assert "found: Is a directory" in explained(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "expected YAML in .*config, found: while parsing .* line 1, column"),
        ("a: \x01", "expected YAML in .*config, found"),
        ("- a\n- b", "in .*config, found another shape"),
        ("just words", "in .*config, found another shape"),
        ("clusters: {a: b}", "in .*config, found another shape"),
        ("users: [{user: {}}]", "in .*config, found another shape"),
        ("", "expected a kubeconfig at .*config, found nothing in it"),
        ("kind: Config", "expected a current-context in .*config, found none$"),
    ],
)
def test_a_file_of_no_use_is_explained(written, text, message):
    assert re.search(message, explained(written(text)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": ""}, "expected a current-context in {path}, found none; pass --context red"),
        ({"cluster": {}}, "expected server in cluster 'red' in {path}, found none"),
        ({"cluster": {"server": 5}}, "expected a string as server in cluster 'red' in {path}, found int"),
        ({"cluster": []}, "expected a mapping in cluster 'red' in {path}, found list"),
        ({"user": {"client-certificate": "a"}}, "expected client-certificate with client-key in user 'red' in {path}"),
        ({"user": {"client-key-data": "!"}}, "expected base64 as client-key-data in user 'red' in {path}, found: "),
        ({"user": {"as": "other"}}, "user 'red' in {path}, found as; impersonation is not built"),
        (
            {"user": {"auth-provider": {"name": "gcp"}}},
            "found 'gcp', which Kubernetes has dropped; use its",
        ),
        ({"user": {"exec": {"command": "x"}}}, "expected apiVersion in exec of user 'red' in {path}, found none"),
        (
            {"user": {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}},
            "v1beta1 in exec of user 'red' in {path}, found client.authentication.k8s.io/v1alpha1; update the plugin",
        ),
        (
            {
                "user": {
                    "exec": {
                        "command": "x",
                        "apiVersion": "client.authentication.k8s.io/v1",
                        "interactiveMode": "Perhaps",
                    }
                }
            },
            "expected interactiveMode Never, IfAvailable, Always in exec of user 'red' in {path}, found Perhaps",
        ),
        (
            {"cluster": {"server": "x", "insecure-skip-tls-verify": True, "certificate-authority": "a"}},
            "certificate-authority or insecure-skip-tls-verify in cluster 'red' in {path}, found both",
        ),
        (
            {"cluster": {"server": "x", "insecure-skip-tls-verify": "yes"}},
            "expected true or false as insecure-skip-tls-verify in cluster 'red' in {path}, found str",
        ),
    ],
)
def test_what_is_wrong_inside_is_said_with_its_place(written, change, message):
    path = written(config(**change))

    assert message.format(path=path) in explained(path)


@pytest.mark.parametrize("kind", ["cluster", "user"])
def test_a_context_that_names_what_is_not_there_is_explained(written, kind):
    found = config()
    found["contexts"][0]["context"][kind] = "green"
    path = written(found)

    assert explained(path) == f"expected the {kind} 'green' that context 'red' names in {path}, found 'red'"
