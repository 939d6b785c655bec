"""Deterministic objects of the size and make-up that kcp and CRD authors have: 1.5 kB of JSON each."""

from hashlib import blake2b
from typing import Literal, NamedTuple

Labels = Literal["shared", "unique"]
"""Whether objects share their label sets (200 of them) or each has one of its own, of the same length."""

SIZE = 1500
"""Bytes of every object at generation 1; later generations may need a digit more, three times."""
FIRST_REVISION = 1_000_000
"""Revision of the first object; the i-th has the i-th revision after it."""

_NAMESPACES = 50
_APPS = 100
_PARTITIONS = 20
_FILLER = "A team's share of the fleet; see the runbook before changing its partition or selector. "

_MANAGED_FIELDS = (
    '[{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:export":{"f:name":{},'
    '"f:path":{}},"f:partition":{},"f:replicas":{}}},"manager":"kubectl","operation":"Update",'
    '"time":"2026-11-02T09:30:00Z"},{"apiVersion":"bench.example.com/v1","fieldsType":"FieldsV1",'
    '"fieldsV1":{"f:status":{"f:endpoints":{}}},"manager":"slices","operation":"Update","subresource":"status"}]'
)


class Pieces(NamedTuple):
    """One object's bytes around what changes with it: generation, resourceVersion, spec.replicas."""

    head: bytes
    middle: bytes
    tail: bytes
    end: bytes


def render(pieces: Pieces, generation: int, revision: int) -> bytes:
    """Return the object's JSON; each generation has one replica more than the one before."""
    head, middle, tail, end = pieces
    return b"%b%d%b%d%b%d%b" % (head, generation, middle, revision, tail, generation, end)


def pieces(index: int, labels: Labels = "shared") -> Pieces:
    """Return the pieces of the index-th object."""
    bare = _pieces(index, labels, "")
    missing = SIZE - len(render(bare, 1, FIRST_REVISION))
    return _pieces(index, labels, (_FILLER * 5)[:missing])


def _pieces(index: int, labels: Labels, description: str) -> Pieces:
    uid = _uid("slice", index)
    app, organization = index % _APPS, index % 7
    cluster = blake2b(b"cluster-%d" % (index % _NAMESPACES), digest_size=8).hexdigest()
    instance = f"{index if labels == 'unique' else index % 200:06d}"
    owners = ""
    if index % 4 == 0:
        owners = (
            '"ownerReferences":[{"apiVersion":"bench.example.com/v1","controller":true,"kind":"Fleet",'
            f'"name":"fleet-{organization}","uid":"{_uid("fleet", organization)}"}}],'
        )
    head = (
        '{"apiVersion":"bench.example.com/v1","kind":"Slice","metadata":{"annotations":{'
        f'"example.com/description":"{description}","kcp.io/cluster":"{cluster}"}},'
        '"creationTimestamp":"2026-11-02T09:30:00Z","generation":'
    )
    middle = (
        f',"labels":{{"app":"app-{app:03d}","app.kubernetes.io/instance":"app-{instance}",'
        f'"region":"region-{app % 4}","tier":"{("gold", "iron")[app % 2]}"}},"managedFields":{_MANAGED_FIELDS},'
        f'"name":"slice-{index:06d}","namespace":"team-{index % _NAMESPACES:03d}",{owners}"resourceVersion":"'
    )
    tail = (
        f'","uid":"{uid}"}},"spec":{{"export":{{"name":"service-{app % 10}","path":"root:org-{organization}:provider"'
        f'}},"partition":"partition-{index % _PARTITIONS:02d}","paused":false,"replicas":'
    )
    end = (
        f',"selector":{{"matchLabels":{{"app":"app-{app:03d}"}}}}}},"status":{{"conditions":[{{'
        '"lastTransitionTime":"2026-11-02T09:30:05Z","message":"","reason":"Published","status":"True","type":"Ready"}],'
        f'"endpoints":[{{"url":"https://amber.example.com:6443/services/apiexport/{cluster}/service-{app % 10}"}}],'
        '"observedGeneration":1}}'
    )
    return Pieces(head.encode(), middle.encode(), tail.encode(), end.encode())


def _uid(kind: str, number: int) -> str:
    digest = blake2b(b"%s-%d" % (kind.encode(), number), digest_size=16).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
