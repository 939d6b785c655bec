"""The commands of operators on the command line: `shards`, `forget` and `replication`."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from kcpctl.parsing import Commands, Parser
from kcpctl.settings import Place, add_flags, resolve

Command = Callable[[Namespace, Path], int]
"""Carries a command out in the process of that data directory, and returns the exit code."""


def add_operator_commands(commands: Commands, epilog: str) -> None:
    """Add them to the others."""
    _add_shards(commands, epilog)
    _add_forget(commands, epilog)
    _add_replication(commands, epilog)


def _add_shards(commands: Commands, epilog: str) -> None:
    text = "all shards, and which of them live"
    shards = commands.add_parser(
        "shards", help=text, description=f"Show {text}, as the running process of a data directory sees it."
    )
    _finish(shards, _list_shards, epilog)
    actions = shards.add_subparsers(title="actions", metavar="ACTION")
    every = actions.add_parser("list", help="the same without an action", description=f"Show {text}.")
    _finish(every, _list_shards, epilog)
    every.leave_to(shards)
    remove = actions.add_parser(
        "remove",
        help="let go of a shard that is no more",
        description="Delete what a silent shard left in the cache, and tell every process that it is gone. Refused, "
        "with the reason, while the shard lives.",
    )
    remove.add_argument("name", metavar="NAME", help="the shard's name, as `kcpctl shards` shows it")
    remove.add_argument(
        "--force", action="store_true", help="take your word for it where a shard holds no lease; never while it lives"
    )
    remove.add_argument(
        "--former",
        action="store_true",
        help="let go only of what had the name before the shard that has it now, and is held since",
    )
    _finish(remove, _remove_shard, epilog)
    remove.leave_to(shards)


def _add_forget(commands: Commands, epilog: str) -> None:
    text = "let go of what is held and is no more"
    forget = commands.add_parser("forget", help=text, description=f"{text.capitalize()}.")
    actions = forget.add_subparsers(title="what", metavar="WHAT", required=True)
    export = actions.add_parser(
        "export",
        help="an APIExport",
        description="Tell every process that an APIExport is gone for good, and have its copy in the cache go. Refused "
        "where its home holds it; a home that has been silent for 15 s cannot say so.",
    )
    export.add_argument("cluster", metavar="CLUSTER", help="its logical cluster, by name or by path")
    export.add_argument("name", metavar="NAME", help="its name")
    _finish(export, _forget_export, epilog)


def _add_replication(commands: Commands, epilog: str) -> None:
    text = "what the cache holds of a shard"
    replication = commands.add_parser("replication", help=text, description=f"Look after {text}.")
    actions = replication.add_subparsers(title="actions", metavar="ACTION", required=True)
    status = actions.add_parser(
        "status",
        help="compare the cache with the shard",
        description="Show what is missing in the cache, what differs, what is held, and copies of unknown shards.",
    )
    _finish(status, _replication_status, epilog)
    adopt = actions.add_parser(
        "adopt",
        help="take the shard's store for what it is",
        description="Say that the shard's store is the right one although it is new, or older than what was seen of "
        "it: what it lacks is gone. Until then that is held.",
    )
    _finish(adopt, _adopt, epilog)
    prune = actions.add_parser(
        "prune",
        help="delete copies of shards that nobody knows",
        description="Show the copies of shards that do not exist any more, and delete them with --yes.",
    )
    prune.add_argument("--yes", action="store_true", help="delete them; without it they are only shown")
    _finish(prune, _prune, epilog)


def _finish(parser: Parser, command: Command, epilog: str) -> None:
    """Give a command what all of them have."""

    def run(parsed: Namespace) -> int:
        resolved = resolve(Place, vars(parsed))
        if parsed.print_config:
            print(resolved.shown())
            return 0
        return command(parsed, resolved.settings.data_dir)

    parser.epilog = epilog
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="how to show it")
    add_flags(parser, Place)
    parser.set_defaults(command=run, parser=parser)


# What reaches for the socket is imported when it is needed: --help stays quick.


def _list_shards(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import list_shards

    return list_shards(data_dir, parsed.output)


def _remove_shard(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import remove_shard

    return remove_shard(data_dir, parsed.name, parsed.output, force=parsed.force, former=parsed.former)


def _forget_export(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import forget_export

    return forget_export(data_dir, parsed.cluster, parsed.name, parsed.output)


def _replication_status(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import replication_status

    return replication_status(data_dir, parsed.output)


def _adopt(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import adopt

    return adopt(data_dir, parsed.output)


def _prune(parsed: Namespace, data_dir: Path) -> int:
    from kcpctl.operating import prune

    return prune(data_dir, parsed.output, for_good=parsed.yes)
