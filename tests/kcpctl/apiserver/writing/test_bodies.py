"""From the bytes of a body to an object, or to the words that say why it is none."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcpctl.apiserver.builtin import CONFIG_MAPS, EVENTS, LEASES, SECRETS
from kcpctl.apiserver.failures import Failure
from kcpctl.apiserver.served import Served
from kcpctl.apiserver.writing.decoding import decode
from tests.kcpctl.apiserver.kinds import WIDGETS
from tests.kcpctl.apiserver.writing.hands import Hand, config_map, widget
from tests.kcpctl.apiserver.writing.refusals import refused

YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
NO_KIND = f"{UNRECOGNIZED}couldn't get version/kind; json parse error: "
UNHANDLED = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
SCHEME = '"pkg/api/legacyscheme/scheme.go:30"'
HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
TWICE = b"""
apiVersion: v1
kind: ConfigMap
metadata:
  name: c1
  name: c2
data:
  a: b
  a: c
bogus: 1
"""


@pytest.mark.parametrize(
    "media", ["", "application/octet-stream", "application/json", "application/json; charset=utf-8"]
)
async def test_a_body_without_a_named_type_is_json(ann: Hand, media: str) -> None:
    assert (await ann.create(config_map(), media=media))["metadata"]["name"] == "c1"


async def test_yaml_makes_the_same_object(ann: Hand) -> None:
    made = await ann.create(b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c1}\ndata:\n  on: 'yes'\n", media=YAML)

    assert made["data"] == {"true": "yes"}  # a key that YAML 1.1 takes for a boolean


async def test_a_built_in_need_not_say_what_it_is(ann: Hand) -> None:
    made = await ann.create({"metadata": {"name": "c1"}})

    assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", f"{NO_KIND}unexpected end of JSON input (<empty>)"),
        (b"{nope", f"{NO_KIND}invalid character 'n' looking for beginning of object key string ({{nope)"),
        (b"[]", f"{NO_KIND}json: cannot unmarshal array into Go value of type {HEAD} (5b5d)"),
        (
            b'{"kind":5}',
            f'{NO_KIND}json: cannot unmarshal number into Go struct field .kind of type string ({{"kind":5}})',
        ),
        (b'{"apiVersion":"a/b/c"}', UNRECOGNIZED + 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'),
        (
            b'{"data":{"a":1}}',
            f"{UNHANDLED}json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            b'{"apiVersion":"apps/v1"}',
            f'{UNHANDLED}no kind "ConfigMap" is registered for version "apps/v1" in scheme {SCHEME}',
        ),
        (b'{"metadata":' + b"[" * 100_000, f"{NO_KIND}exceeded max depth"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_the_words_of_kube_apiserver(
    ann: Hand, body: bytes, message: str
) -> None:
    status = await refused(ann.create(body))

    assert (status.code, status.reason) == (400, "BadRequest")
    assert status.message.startswith(message)


async def test_deep_objects_are_refused_before_they_do_harm(ann: Hand) -> None:
    deep = json.dumps(widget(spec={"x": 0})).replace("0", '{"x":' * 300 + "0" + "}" * 300)

    status = await refused(ann.create(deep.encode(), WIDGETS))

    assert (status.code, status.message) == (400, "exceeded max depth")


async def test_other_types_of_bodies_are_refused(ann: Hand) -> None:
    xml = await refused(ann.create(b"<a/>", media="application/xml"))
    custom = await refused(ann.create(b"k8s\x00", WIDGETS, media=PROTOBUF))

    assert xml.code == custom.code == 415
    assert xml.message.endswith("include: application/json, application/yaml, application/vnd.kubernetes.protobuf")
    assert custom.message.endswith("include: application/json, application/yaml")


async def test_bodies_over_three_mebibytes_are_refused(ann: Hand) -> None:
    status = await refused(ann.create(b" " * (3 * 1024 * 1024 + 1)))

    assert (status.code, status.message) == (413, "Request entity too large: limit is 3145728")


async def test_protobuf_that_is_none_is_a_bad_request(ann: Hand) -> None:
    no_envelope = await refused(ann.create(b"{}", media=PROTOBUF))
    cut_off = await refused(ann.create(b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x02\x0a\x09", media=PROTOBUF))

    assert "does not appear to be a protobuf message" in no_envelope.message
    assert (cut_off.code, cut_off.message) == (400, f"{UNHANDLED}unexpected EOF")


async def test_unknown_and_repeated_fields_are_warned_about_in_the_order_of_the_text(ann: Hand) -> None:
    body = b'{"metadata":{"name":"c1","foo":{"a":1,"a":2}},"data":{"a":"1","a":"2"},"bogus":1}'
    problems = ('unknown field "metadata.foo"', 'duplicate field "data.a"', 'unknown field "bogus"')

    made = await ann.create(body)
    warnings = ann.warnings

    assert made["data"] == {"a": "2"}
    assert warnings == problems
    status = await refused(ann.create(body, query="fieldValidation=Strict"))
    assert status.message == f"{UNHANDLED}strict decoding error: {', '.join(problems)}"
    await ann.create(body.replace(b"c1", b"c2"), query="fieldValidation=Ignore")
    assert not ann.warnings


async def test_custom_resources_tell_repeated_fields_wherever_they_are(ann: Hand) -> None:
    body = json.dumps(widget(metadata={"bogus": 1})).encode()[:-1] + b',"spec":{"x":{"a":1,"a":1}}}'

    await ann.create(body, WIDGETS)

    assert ann.warnings == ('duplicate field "spec.x.a"', 'unknown field "metadata.bogus"')


async def test_what_yaml_says_twice_is_one_error_and_two_warnings(ann: Hand) -> None:
    lines = ('line 6: key "name" already set in map', 'line 9: key "a" already set in map')

    await ann.create(TWICE, media=YAML)

    assert ann.warnings == (*lines, 'unknown field "bogus"')
    status = await refused(ann.create(TWICE, media=YAML, query="fieldValidation=Strict"))
    listed = "\n  ".join(lines)
    assert status.message == (
        f'{UNHANDLED}strict decoding error: yaml: unmarshal errors:\n  {listed}, unknown field "bogus"'
    )


async def test_metadata_of_custom_resources_has_types_too(ann: Hand) -> None:
    labels = await refused(ann.create(widget(metadata={"labels": {"a": 1}}), WIDGETS))
    whole = await refused(ann.create({**widget(), "metadata": "x"}, WIDGETS))

    unhandled = 'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal '
    assert labels.message == f"{unhandled}number into Go struct field ObjectMeta.labels of type string"
    assert whole.message == f"{unhandled}string into Go value of type v1.ObjectMeta"


async def test_numbers_stay_what_they_are(ann: Hand) -> None:
    body = json.dumps(widget()).encode()[:-1] + b',"spec":{"i":3,"f":1.5,"w":3.0,"e":1e3,"b":12345678901234567890123}}'

    made = await ann.create(body, WIDGETS)

    assert made["spec"] == {"i": 3, "f": 1.5, "w": 3, "e": 1000, "b": 1.2345678901234568e22}
    assert [type(made["spec"][key]) for key in "ifwe"] == [int, float, int, int]


async def test_broken_text_becomes_replacement_characters(ann: Hand) -> None:
    made = await ann.create(b'{"metadata":{"name":"c1"},"data":{"a":"\\ud800","b":"\xff"}}')

    assert made["data"] == {"a": "\ufffd", "b": "\ufffd"}


async def test_an_event_of_the_other_group_is_another_version(ann: Hand) -> None:
    status = await refused(
        ann.create({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}, EVENTS)
    )

    assert status.message == (
        "the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)"
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    st.sampled_from([CONFIG_MAPS, SECRETS, LEASES, WIDGETS]),
    st.sampled_from(["application/json", YAML, PROTOBUF]),
    st.binary(max_size=60) | st.text(alphabet='{}[]":, abckindmetadata\n-&*!', max_size=60).map(str.encode),
)
async def test_whatever_the_bytes_the_answer_is_an_object_or_a_failure(served: Served, media: str, body: bytes) -> None:
    hand = Hand()

    try:
        obj, _ = await decode(hand.world, hand.call("create", served, body, media=media), "Warn")
    except Failure:
        return

    assert isinstance(obj["metadata"], dict)
