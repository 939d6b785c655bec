"""The command line: which commands there are, their flags, and how their errors are printed.

Each command's own module is imported when it is asked for: --help stays quick.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from informers.api.errors import ConfigurationError
from kcpctl import __version__
from kcpctl.operators import add_operator_commands
from kcpctl.parsing import Commands, Parser
from kcpctl.settings import CacheSettings, Common, Place, RunSettings, ServeSettings, add_flags, resolve, strays
from kcpctl.slim import pause_collector

EXIT_WRONG = 2
"""Exit code for settings, files and declarations that are wrong."""

_EPILOG = "A setting is taken from its flag, else its KCPCTL_* variable, else the --config file, else its default."


EXIT_INTERRUPTED = 130
"""Exit code after a Ctrl-C before there was anything to stop, as shells count it."""


def run_command(arguments: Sequence[str], *, platform: str = sys.platform) -> int:
    """Run one command and return the process' exit code; what is wrong is one line on stderr."""
    parsed, unknown = _parser().parse_known_args(arguments)
    if unknown:
        parsed.parser.refuse(unknown[0])
    command: Callable[[argparse.Namespace], int] = parsed.command
    try:
        _check_platform(platform)
        for line in strays(os.environ):
            print(f"kcpctl: {line}", file=sys.stderr)
        return command(parsed)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except ConfigurationError as error:
        print(f"kcpctl: {error}", file=sys.stderr)
        return EXIT_WRONG
    except BrokenPipeError:
        return 1


def _check_platform(platform: str) -> None:
    if platform == "win32":
        raise ConfigurationError(
            "the commands of kcpctl need file locks, unix sockets and signals, which Windows does not have; "
            "the package informers works there, and with it controllers in a program of your own"
        )


def _parser() -> Parser:
    parser = Parser(
        prog="kcpctl", description="Keep kcp's endpoint slices right, and run controllers of your own.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=f"kcpctl {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_serving(commands, "serve", "an API server alone", ServeSettings, _serve)
    _add_serving(commands, "cache", "a cache server as its own process", CacheSettings, _cache)
    _add_workspace(commands)
    _add_status(commands)
    add_operator_commands(commands, _EPILOG)
    return parser


def _add_run(commands: Commands) -> None:
    text = "a shard with its API server, a cache server and the controllers, in one process"
    command = commands.add_parser("run", help=text, description=f"Run {text}.", epilog=_EPILOG)
    command.add_argument(
        "modules",
        nargs="*",
        metavar="CONTROLLERS",
        help="controllers of your own to run: module, module:name, path.py or path.py:name",
    )
    add_flags(command, RunSettings)
    command.set_defaults(command=_run, parser=command)


def _add_serving(
    commands: Commands, name: str, text: str, kind: type[Common], command: Callable[[argparse.Namespace], int]
) -> None:
    parser = commands.add_parser(name, help=text, description=f"Run {text}.", epilog=_EPILOG)
    add_flags(parser, kind)
    parser.set_defaults(command=command, parser=parser)


def _add_workspace(commands: Commands) -> None:
    text = "make workspaces"
    workspace = commands.add_parser("workspace", help=text, description=f"{text.capitalize()}.")
    actions = workspace.add_subparsers(title="actions", metavar="ACTION", required=True)
    create = actions.add_parser(
        "create",
        help="make a workspace, with its logical cluster and a context in the admin kubeconfig",
        description="Make a workspace in the running process of a data directory; its parent must exist.",
        epilog=_EPILOG,
    )
    create.add_argument("path", metavar="PATH", help="such as root:org:team")
    add_flags(create, Place)
    create.set_defaults(command=_workspace_create, parser=create)


def _add_status(commands: Commands) -> None:
    text = "what the running process of a data directory knows and does"
    status = commands.add_parser("status", help=text, description=f"Show {text}.", epilog=_EPILOG)
    status.add_argument("-o", "--output", choices=("text", "json"), default="text", help="how to show it")
    add_flags(status, Place)
    status.set_defaults(command=_status, parser=status)


def _printed(parsed: argparse.Namespace, kind: type[Place]) -> bool:
    """Print the settings when that is all that was asked for."""
    if parsed.print_config:
        print(resolve(kind, vars(parsed)).shown())
    return bool(parsed.print_config)


def _run(parsed: argparse.Namespace) -> int:
    if _printed(parsed, RunSettings):
        return 0
    pause_collector()
    from kcpctl.run import run  # takes 0.3 s to import

    return run(resolve(RunSettings, vars(parsed)).settings, parsed.modules)


def _serve(parsed: argparse.Namespace) -> int:
    if _printed(parsed, ServeSettings):
        return 0
    pause_collector()
    from kcpctl.serve import serve  # takes 0.3 s to import

    return serve(resolve(ServeSettings, vars(parsed)).settings)


def _cache(parsed: argparse.Namespace) -> int:
    if _printed(parsed, CacheSettings):
        return 0
    pause_collector()
    from kcpctl.serve import serve_cache  # takes 0.3 s to import

    return serve_cache(resolve(CacheSettings, vars(parsed)).settings)


def _workspace_create(parsed: argparse.Namespace) -> int:
    if _printed(parsed, Place):
        return 0
    from kcpctl.workspaces import create  # reaches for a socket

    return create(parsed.path, resolve(Place, vars(parsed)).settings.data_dir)


def _status(parsed: argparse.Namespace) -> int:
    if _printed(parsed, Place):
        return 0
    from kcpctl.status import show  # reaches for a socket

    return show(resolve(Place, vars(parsed)).settings.data_dir, parsed.output)
