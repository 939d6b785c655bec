"""YAML as kube-apiserver writes it: sorted keys, block style, and quotes wherever a YAML 1.1 reader would guess."""

import re
from typing import Any

import yaml

_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# Plain scalars that some YAML 1.1 reader takes for a boolean although PyYAML does not, and numbers as Go reads them.
_GUESSED = re.compile(r"[yYnN]|[-+]?(0o?[0-7_]+|0b[01_]+|\.?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?)", re.ASCII)

_END = "\n...\n"


class _KubernetesDumper(_Dumper):  # type: ignore[misc,valid-type]
    """Double-quotes strings that would be read as something else, and writes texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal values in full: JSON has no aliases."""
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Choose the style of a string."""
        style = None
        if "\n" in text:
            style = "|"
        elif self.resolve(yaml.ScalarNode, text, (True, False)) != "tag:yaml.org,2002:str" or _GUESSED.fullmatch(text):
            style = '"'
        node: yaml.ScalarNode = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


_KubernetesDumper.add_representer(str, _KubernetesDumper.represent_text)


def dump(value: Any) -> bytes:
    """Return the YAML of decoded JSON."""
    text: str = yaml.dump(value, Dumper=_KubernetesDumper, default_flow_style=False, allow_unicode=True)
    # After some texts PyYAML marks the end of the document, which Go never does.
    return (text[: -len(_END)] + "\n" if text.endswith(_END) else text).encode()
