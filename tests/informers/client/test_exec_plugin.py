import asyncio
import json
import sys
from contextlib import suppress
from datetime import timedelta

import psutil
import pytest

from informers.api.errors import ConfigurationError, ConnectError
from informers.client.exec_plugin import VERSIONS, ExecPlugin, Interaction, Plugin
from informers.client.http import HttpTransport
from informers.client.tls import TlsContexts, Trust
from informers.client.transport import Request
from informers.clock import VirtualClock
from informers.tasks import background
from tests.informers.client.certificates import Authority

HEAD = """
import json, os, sys, time
runs = os.path.join(os.environ["FOLDER"], "runs")
open(runs, "a").write("x")
number = len(open(runs).read())
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
def answer(**status):
    print(json.dumps({"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": status}))
"""


@pytest.fixture
def plugin(tmp_path):
    """Make plugins out of a few lines of Python."""

    def make(lines, **options):
        script = tmp_path / "plugin.py"
        script.write_text(HEAD + lines)
        environment = {"FOLDER": str(tmp_path), **options.pop("environment", {})}
        return Plugin(sys.executable, arguments=(str(script),), environment=environment, **options)

    return make


def nobody_there():
    return False


def credentials(plugin, **options):
    return ExecPlugin(plugin, **{"terminal": nobody_there, **options})


async def authorization(given):
    return (await given.headers()).get("Authorization")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_token_is_had_once_and_kept(plugin, version):
    given = credentials(plugin("answer(token=f'token-{number}')", api_version=version))

    assert [await authorization(given) for _ in range(3)] == ["Bearer token-1"] * 3
    assert given.expires_at is None


async def test_a_token_is_had_anew_before_it_expires(plugin):
    clock = VirtualClock()
    expires = (clock.now() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    given = credentials(plugin(f"answer(token=f'token-{{number}}', expirationTimestamp={expires!r})"), clock=clock)
    assert await authorization(given) == "Bearer token-1"
    assert given.expires_at == clock.now() + timedelta(hours=1)

    await clock.advance(3569)
    assert await authorization(given) == "Bearer token-1"
    await clock.advance(1)
    assert await authorization(given) == "Bearer token-2"


async def test_a_refused_token_is_had_anew(plugin):
    given = credentials(plugin("answer(token=f'token-{number}')"))
    await given.headers()

    given.invalidate()

    assert await authorization(given) == "Bearer token-2"


async def test_a_token_that_comes_expired_is_tried_and_not_asked_for_each_time(plugin):
    """By our clock, which may be the one that is wrong."""
    clock = VirtualClock()
    given = credentials(
        plugin("answer(token=f'token-{number}', expirationTimestamp='2001-01-01T00:00:00Z')"), clock=clock
    )

    assert [await authorization(given) for _ in range(2)] == ["Bearer token-1"] * 2
    await clock.advance(1)
    assert await authorization(given) == "Bearer token-2"


async def test_many_requests_at_once_run_it_once(plugin, tmp_path):
    given = credentials(plugin("answer(token='t')"))

    async with background(*(given.headers() for _ in range(20))) as tasks:
        for task in tasks:
            await task

    assert (tmp_path / "runs").read_text() == "x"


async def test_a_certificate_from_the_plugin_is_shown(plugin):
    issued = Authority().issue("red")
    pair = {"clientCertificateData": issued.certificate.decode(), "clientKeyData": issued.key.decode()}
    tls = TlsContexts(Trust(insecure=True))
    given = ExecPlugin(plugin(f"answer(**{pair!r})"), tls, terminal=nobody_there)

    context = await given.ssl_context()

    assert await given.headers() == {}
    assert await given.ssl_context() is context
    assert await tls.context() is not context


async def test_a_certificate_that_expires_is_had_anew_with_its_context(plugin):
    pairs = [Authority().issue(name) for name in ("red", "blue")]
    data = [{"clientCertificateData": p.certificate.decode(), "clientKeyData": p.key.decode()} for p in pairs]
    clock = VirtualClock()
    expires = (clock.now() + timedelta(hours=1)).isoformat()
    lines = f"answer(expirationTimestamp={expires!r}, **{data!r}[number - 1])"
    given = ExecPlugin(
        plugin(lines), TlsContexts(Trust(insecure=True), clock=clock), clock=clock, terminal=nobody_there
    )
    first = await given.ssl_context()

    await clock.advance(3570)

    assert await given.ssl_context() is not first


async def test_a_plugin_that_writes_much_to_stderr_does_not_hang(plugin):
    """Whoever reads stdout to its end first waits for ever, once stderr's pipe is full."""
    given = credentials(plugin("sys.stderr.write('x' * 300_000); answer(token='t')", timeout=20))

    assert await authorization(given) == "Bearer t"


async def test_a_plugin_that_hangs_is_killed_with_its_children(plugin, tmp_path):
    lines = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, file=open(sys.argv[0] + '.pid', 'w'))\n"
    hanging = plugin(lines + "sys.stdout.flush(); time.sleep(60)", timeout=0.5)

    with pytest.raises(ConfigurationError, match=r"within 0\.5 s, found it still running"):
        await credentials(hanging).headers()

    await gone(int((tmp_path / "plugin.py.pid").read_text()))


async def test_what_a_plugin_leaves_behind_with_its_output_open_is_killed_too(plugin, tmp_path):
    """Such as a helper that caches credentials: the plugin has ended, but its answer never does."""
    lines = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, file=open(sys.argv[0] + '.pid', 'w'))\n"
    leaving = plugin(lines + "answer(token='t')", timeout=1)

    with pytest.raises(ConfigurationError, match=r"within 1 s, found what it started still running"):
        await credentials(leaving).headers()

    await gone(int((tmp_path / "plugin.py.pid").read_text()))


async def gone(pid):
    """Wait until the process has ended; here it may stay a zombie, since nobody reaps it."""
    async with asyncio.timeout(5):
        with suppress(psutil.NoSuchProcess):
            while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0.001)


async def test_closing_the_transport_kills_the_plugin(plugin, tmp_path):
    slow = plugin("open(sys.argv[0] + '.pid', 'w').write(str(os.getpid())); time.sleep(60)")
    transport = HttpTransport("http://127.0.0.1:1", credentials=credentials(slow))

    async def asking():
        with pytest.raises(ConnectError, match="closed"):
            await transport.send(Request("GET", "/"))

    async with background(asking()) as [task]:
        async with asyncio.timeout(10):
            while not (tmp_path / "plugin.py.pid").exists() or not (tmp_path / "plugin.py.pid").read_text():
                await asyncio.sleep(0.001)
        await transport.aclose()
        await task

    await gone(int((tmp_path / "plugin.py.pid").read_text()))


async def test_a_cancelled_request_lets_the_plugin_run_on_for_the_next_one(plugin, tmp_path):
    slow = credentials(
        plugin("while not os.path.exists(sys.argv[0] + '.go'): time.sleep(0.001)\nanswer(token=f'token-{number}')")
    )
    async with background(slow.headers()):
        async with asyncio.timeout(10):
            while not (tmp_path / "runs").exists():
                await asyncio.sleep(0.001)

    (tmp_path / "plugin.py.go").touch()

    assert await authorization(slow) == "Bearer token-1"


async def test_it_gets_its_arguments_environment_and_what_it_may_know(plugin, tmp_path):
    cluster = {"server": "https://api.example.com", "config": {"audience": "x"}}
    lines = "json.dump([info, os.environ['EXTRA'], bool(os.environ.get('PATH'))], open(sys.argv[0] + '.json', 'w'))\n"
    given = plugin(lines + "answer(token='t')", cluster=cluster, environment={"EXTRA": "more"}, api_version=VERSIONS[1])

    await credentials(given).headers()

    assert json.loads((tmp_path / "plugin.py.json").read_text()) == [
        {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "kind": "ExecCredential",
            "spec": {"interactive": False, "cluster": cluster},
        },
        "more",
        True,
    ]


async def test_it_reads_nothing_where_nobody_can_answer(plugin):
    given = credentials(plugin("answer(token=repr(sys.stdin.read()))"))

    assert await authorization(given) == "Bearer ''"


@pytest.mark.parametrize(
    ("interaction", "terminal", "told"),
    [
        (Interaction.NEVER, True, False),
        (Interaction.IF_AVAILABLE, True, True),
        (Interaction.IF_AVAILABLE, False, False),
        (Interaction.ALWAYS, True, True),
    ],
)
async def test_it_is_told_whether_somebody_is_there(plugin, interaction, terminal, told):
    given = plugin("answer(token=str(info['spec']['interactive']))", interaction=interaction)

    assert await authorization(ExecPlugin(given, terminal=lambda: terminal)) == f"Bearer {told}"


async def test_a_plugin_that_must_have_a_terminal_is_not_run_without_one(plugin, tmp_path):
    given = credentials(plugin("answer(token='t')", interaction=Interaction.ALWAYS))

    with pytest.raises(ConfigurationError, match="expected a terminal"):
        await given.headers()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("sys.exit('token has run out\\nlog in')", "exit status 1: token has run out log in"),
        ("sys.exit(3)", "exit status 3, and nothing on stderr"),
        ("sys.stderr.write('a' * 9999 + ' the end'); sys.exit(1)", "exit status 1: …a+ the end;"),
        ("print('hello')", "expected an ExecCredential in JSON from .*, found 6 bytes of something else"),
        ("answer()", "expected a token or a client certificate from .*, found neither"),
        ("answer(clientCertificateData='x')", "expected a client certificate with its key .*, found one of them"),
        ("info['apiVersion'] = 'x/v2'; answer(token='t')", "found a ExecCredential of x/v2"),
        ("answer(token='t', expirationTimestamp='soon')", "something else: Invalid RFC3339"),
    ],
)
async def test_what_goes_wrong_is_explained_in_one_line(plugin, lines, message):
    with pytest.raises(ConfigurationError, match=message) as raised:
        await credentials(plugin(lines, install_hint="install it from example.com")).headers()

    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith("; install it from example.com")


async def test_a_plugin_that_is_not_there_says_how_to_get_it():
    missing = Plugin("/no/such/plugin", install_hint="install it from example.com")

    with pytest.raises(ConfigurationError, match="found: No such file or directory; install it from example"):
        await credentials(missing).headers()
