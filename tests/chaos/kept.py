"""Plans that failed once, made small, one file each; they stay when seeds come to mean something else.

A file whose first line says `# open: …` shows what is not built yet: it is not played by `make test`.
"""

from pathlib import Path

from tests.chaos.plans import Step, parse, plan_of

_FOLDER = Path(__file__).with_name("kept")
_OPEN = "# open: "


def kept_plans() -> list[Path]:
    """Return the files."""
    return sorted(_FOLDER.glob("*.txt"))


def named_plan(name: str) -> list[Step]:
    """Return a kept plan by its file's name, or a seed's by its number."""
    return plan_of(int(name)) if name.isdigit() else parse((_FOLDER / f"{name}.txt").read_text())


def open_reason(file: Path | None) -> str:
    """Say what a plan waits for; "" when it has to hold."""
    first = file.read_text().partition("\n")[0] if file else ""
    return first.removeprefix(_OPEN) if first.startswith(_OPEN) else ""
