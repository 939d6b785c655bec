"""The real kubectl against a shard: what people do with it, works."""

import json
from pathlib import Path

import pytest

from tests.e2e.processes import Kubectl, Running, eventually

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {app: demo}
data:
  colour: %s
"""

GADGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              colour: {type: string, default: red}
          status:
            type: object
            properties:
              conditions:
                type: array
                items: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""

GADGET = """
apiVersion: example.com/v1
kind: Gadget
metadata: {name: %s, namespace: %s}
spec: %s
"""


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> str:
    """A namespace for one test."""
    name = request.node.name.replace("_", "-").strip("-")[5:60].rstrip("-[]")
    kubectl("create", "namespace", name)
    return name


@pytest.fixture
def gadgets(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=GADGETS)
    kubectl("wait", "crd/gadgets.example.com", "--for=condition=Established", "--timeout=10s")
    return kubectl


def test_apply_creates_then_changes_then_leaves_alone(kubectl: Kubectl, namespace: str) -> None:
    said = [kubectl("apply", "-n", namespace, "-f", "-", stdin=CONFIG % colour) for colour in ("red", "blue", "blue")]

    assert [line.split()[1].strip() for line in said] == ["created", "configured", "unchanged"]
    assert kubectl.one("configmap", "settings", "-n", namespace)["data"] == {"colour": "blue"}


def test_api_resources_lists_built_in_kinds_and_those_of_kcp(kubectl: Kubectl) -> None:
    found = kubectl("api-resources", "-o", "name").split()

    assert {"namespaces", "configmaps", "secrets", "events", "serviceaccounts", "leases.coordination.k8s.io"} <= {
        *found
    }
    assert {"customresourcedefinitions.apiextensions.k8s.io", "partitions.topology.kcp.io"} <= {*found}
    assert {"apiexports.apis.kcp.io", "apiexportendpointslices.apis.kcp.io", "shards.core.kcp.io"} <= {*found}
    assert {"logicalclusters.core.kcp.io", "workspaces.tenancy.kcp.io"} <= {*found}


@pytest.mark.parametrize("form", ["wide", "yaml", "json", "name", "jsonpath={.items[0].metadata.name}"])
def test_get_shows_every_form(kubectl: Kubectl, form: str) -> None:
    assert "default" in kubectl("get", "namespaces", "--field-selector", "metadata.name=default", "-o", form)


def test_get_watches(kubectl: Kubectl, namespace: str) -> None:
    with kubectl.watching("configmaps", "-n", namespace, "-o", "name") as lines:
        kubectl("apply", "-n", namespace, "-f", "-", stdin=CONFIG % "red")

        eventually(lambda: lines[:1] == ["configmap/settings\n"])


def test_describe_shows_an_object_and_its_events(kubectl: Kubectl, namespace: str) -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=CONFIG % "red")

    assert "colour:" in kubectl("describe", "configmap", "settings", "-n", namespace)
    assert "Status:       Active" in kubectl("describe", "namespace", namespace)


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", {"data": {"colour": None, "size": "9"}}),
        ("strategic", {"data": {"colour": None, "size": "9"}}),
        ("json", [{"op": "remove", "path": "/data/colour"}, {"op": "add", "path": "/data/size", "value": "9"}]),
    ],
)
def test_patch_takes_every_type(kubectl: Kubectl, kind: str, patch: object) -> None:
    kubectl("apply", "-f", "-", stdin=CONFIG % "red")

    kubectl("patch", "configmap", "settings", "--type", kind, "-p", json.dumps(patch))

    assert kubectl.one("configmap", "settings")["data"] == {"size": "9"}


def test_server_side_apply_is_refused_in_one_line(kubectl: Kubectl) -> None:
    said = kubectl.refused("apply", "--server-side", "-f", "-", stdin=CONFIG % "red")

    assert "apply" in said
    assert len(said.strip().splitlines()) == 1


def test_edit_saves_what_the_editor_leaves(kubectl: Kubectl, namespace: str, tmp_path: Path) -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=CONFIG % "red")
    editor = tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\nsed -i.bak 's/colour: red/colour: green/' \"$1\"\n")
    editor.chmod(0o755)

    kubectl("edit", "configmap", "settings", "-n", namespace, KUBE_EDITOR=str(editor))

    assert kubectl.one("configmap", "settings", "-n", namespace)["data"] == {"colour": "green"}


def test_label_annotate_and_selectors(kubectl: Kubectl, namespace: str) -> None:
    kubectl("apply", "-n", namespace, "-f", "-", stdin=CONFIG % "red")
    kubectl("label", "configmap", "settings", "-n", namespace, "tier=gold")
    kubectl("annotate", "configmap", "settings", "-n", namespace, "note=hello")

    assert (
        kubectl("get", "configmap", "-n", namespace, "-l", "tier in (gold),app", "-o", "name") == "configmap/settings\n"
    )
    assert kubectl("get", "configmap", "-n", namespace, "-l", "tier!=gold,app", "-o", "name") == ""


def test_a_namespace_goes_with_all_that_is_in_it(gadgets: Kubectl, namespace: str) -> None:
    gadgets("apply", "-n", namespace, "-f", "-", stdin=CONFIG % "red")
    gadgets("apply", "-f", "-", stdin=GADGET % ("first", namespace, "{size: 1}"))

    gadgets("delete", "namespace", namespace, "--timeout=15s")

    assert "NotFound" in gadgets.refused("get", "namespace", namespace)
    assert gadgets("get", "gadgets", "-A", "-o", "name").count("first") == 0


def test_a_custom_kind_is_validated_defaulted_and_shown_in_its_columns(gadgets: Kubectl, namespace: str) -> None:
    gadgets("apply", "-f", "-", stdin=GADGET % ("good", namespace, "{size: 3}"))

    header, row = gadgets("get", "gd", "-n", namespace).splitlines()
    assert (header.split(), row.split()) == (["NAME", "SIZE"], ["good", "3"])
    assert gadgets.one("gadgets", "good", "-n", namespace)["spec"] == {"size": 3, "colour": "red"}
    bad = gadgets.refused("apply", "-f", "-", stdin=GADGET % ("bad", namespace, "{size: 0}"))
    assert "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1" in bad
    unknown = gadgets.refused("create", "-f", "-", stdin=GADGET % ("odd", namespace, "{size: 1, shape: round}"))
    assert 'unknown field "spec.shape"' in unknown


def test_wait_waits_for_a_condition_that_somebody_sets(gadgets: Kubectl, namespace: str) -> None:
    gadgets("apply", "-f", "-", stdin=GADGET % ("slow", namespace, "{size: 3}"))
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}

    gadgets(
        "patch", "gadget", "slow", "-n", namespace, "--subresource=status", "--type=merge", "-p", json.dumps(status)
    )

    said = gadgets("wait", "gadget/slow", "-n", namespace, "--for=condition=Ready", "--timeout=10s")
    assert "condition met" in said


def test_explain_knows_fields(gadgets: Kubectl) -> None:
    assert "size\t<integer> -required-" in gadgets("explain", "gadgets.spec")


def test_a_definition_goes_with_its_objects(gadgets: Kubectl, namespace: str) -> None:
    gadgets("apply", "-f", "-", stdin=GADGET % ("last", namespace, "{size: 1}"))

    gadgets("delete", "crd", "gadgets.example.com", "--timeout=15s")

    assert "could not find the requested resource" in gadgets.refused("get", "gadgets", "-n", namespace)


def test_a_workspace_applied_directly_is_refused_in_one_clear_line(shard: Running) -> None:
    manifest = "apiVersion: tenancy.kcp.io/v1alpha1\nkind: Workspace\nmetadata: {name: team}\n"

    said = shard.kubectl("root").refused("apply", "-f", "-", stdin=manifest)

    assert "python -m kcpctl workspace create" in said


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: [1]}\n", "ConfigMap.data of type string"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_Good}\n", "metadata.name: Invalid value"),
        ("apiVersion: v1\nkind: Nonsense\nmetadata: {name: x}\n", 'no matches for kind "Nonsense"'),
        (
            "apiVersion: apis.kcp.io/v1alpha1\nkind: APIExportEndpointSlice\nmetadata: {name: x}\nspec: {}",
            "spec.export",
        ),
    ],
)
def test_a_malformed_manifest_is_one_clear_refusal(kubectl: Kubectl, manifest: str, told: str) -> None:
    assert told in kubectl.refused("apply", "-f", "-", stdin=manifest)
