"""What a write request asks for besides its object: dry run, field validation, field manager, deletion options."""

from collections.abc import Sequence

import msgspec

from kcpctl.apiserver.call import Call
from kcpctl.apiserver.failures import invalid_options
from kcpctl.apiserver.field_errors import forbidden, invalid, required, too_long, unsupported
from kcpctl.apiserver.gotext import as_json
from kcpctl.apiserver.served import FieldError

IGNORE = "Ignore"
WARN = "Warn"
STRICT = "Strict"

APPLY = "application/apply-patch+yaml"

_LONGEST_MANAGER = 128


class WriteOptions(msgspec.Struct, frozen=True):
    """The options of creates, updates and patches."""

    dry_run: bool = False
    field_validation: str = WARN
    field_manager: str = ""


def write_options(call: Call, kind: str) -> WriteOptions:
    """Read the query; `kind` is CreateOptions, UpdateOptions or PatchOptions. Raises `Failure` (422)."""
    query = call.query
    manager, dry_run, validation = query.text("fieldManager"), query.all("dryRun"), query.text("fieldValidation")
    errors = _of_patch(call, manager) if kind == "PatchOptions" else []
    errors += _of_manager(manager) + dry_run_errors(dry_run)
    if validation not in ("", IGNORE, STRICT, WARN):
        errors.append(unsupported("fieldValidation", validation, ("", IGNORE, STRICT, WARN)))
    if errors:
        raise invalid_options(kind, errors)
    return WriteOptions(bool(dry_run), validation or WARN, manager)


def dry_run_errors(values: Sequence[str]) -> list[FieldError]:
    """Return what is wrong with the values of `dryRun`."""
    if all(value == "All" for value in values):
        return []
    message = f'Unsupported value: {as_json(list(values))}: supported values: "All"'
    return [FieldError("dryRun", "FieldValueNotSupported", message)]


def _of_patch(call: Call, manager: str) -> list[FieldError]:
    if call.content_type == APPLY:
        return [] if manager else [required("fieldManager", "is required for apply patch")]
    if "force" in call.query:
        return [forbidden("force", "may not be specified for non-apply patch")]
    return []


def _of_manager(manager: str) -> list[FieldError]:
    errors = [] if len(manager.encode()) <= _LONGEST_MANAGER else [too_long("fieldManager", _LONGEST_MANAGER)]
    at = 0
    for char in manager:
        if not char.isprintable():
            shown = f"U+{ord(char):04X}"
            errors.append(invalid("fieldManager", manager, f"invalid character {shown} (at position {at})"))
        at += len(char.encode())
    return errors
