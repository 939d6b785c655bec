"""What `kcpctl run` answers to other kcpctl commands."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

from informers.api.errors import ConfigurationError
from kcpctl import control, logs
from kcpctl.datadir import locked
from kcpctl.grounds import Ground
from kcpctl.report import Report, shown
from kcpctl.settings import RunSettings
from kcpctl.workspaces import CREATE


@asynccontextmanager
async def answering_commands(
    settings: RunSettings, found: Ground, report: Callable[[], Report], others: control.Answers
) -> AsyncIterator[None]:
    """Answer `status` and `others`; a process that keeps nothing does without where the data directory is another's."""

    async def status(_: control.JSON) -> control.JSON:
        return shown(report())

    async def create_workspace(question: control.JSON) -> control.JSON:
        if found.embedded is None:
            raise ConfigurationError("expected a process with a shard of its own, found one that runs controllers only")
        return dict(await found.embedded.create_workspace(str(question["path"])))

    with _held(settings, found) as is_held:
        if not is_held:
            yield
            return
        async with control.serving(settings.data_dir, {"status": status, CREATE: create_workspace, **others}):
            yield


@contextmanager
def _held(settings: RunSettings, found: Ground) -> Iterator[bool]:
    """Hold the data directory, if that has not been done, and say whether it is ours."""
    with ExitStack() as stack:
        if found.embedded is None and not found.holds_folder:
            try:
                stack.enter_context(locked(settings.data_dir))
            except ConfigurationError as error:
                logs.logger().warning("kcpctl status cannot ask this process", error=error)
                yield False
                return
        yield True
