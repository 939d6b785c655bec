import pytest

from kcpctl.apiserver.schema.formats import CHECKERS, enforced, recognized

GOOD = {
    "date-time": ["2026-12-01T01:12:24Z", "2026-12-01t01:12:24.123456+02:00", "2026-02-28T23:59:59-11:30"],
    "date": ["2026-12-01", "2024-02-29"],
    "duration": ["1h30m", "-1.5s", "0", "3 days", "2 weeks", "1us"],
    "email": ["ann@example.com", "Ann <ann@example.com>"],
    "hostname": ["localhost", "a-b.example.com", "example.com."],
    "ipv4": ["127.0.0.1"],
    "ipv6": ["::1", "2001:db8::1", "::ffff:1.2.3.4"],
    "cidr": ["10.0.0.0/8", "10.1.2.3/8", "2001:db8::/32"],
    "mac": ["01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab"],
    "uri": ["https://h:6443/base", "localhost:6443", "/path", "https://h:/x", "https://[::1]:80/%20", "mailto:a@b"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"],
    "uuid4": ["123e4567-e89b-42d3-a456-426614174000"],
    "isbn": ["0-306-40615-2", "978-0-306-40615-7"],
    "creditcard": ["4111 1111 1111 1111"],
    "ssn": ["123-45-6789"],
    "hexcolor": ["#ffffff", "abc"],
    "rgbcolor": ["rgb(1, 22, 255)"],
    "byte": ["aGk=", ""],
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "k8s-short-name": ["my-name"],
    "k8s-long-name": ["my.name"],
    "password": ["anything"],
}
BAD = {
    "date-time": ["yesterday", "2026-12-01", "2026-12-01T24:00:00Z", "2026-13-01T00:00:00Z", "2026-12-01T01:12:24"],
    "date": ["2026-02-29", "26-1-1", "2026-12-01T00:00:00Z"],
    "duration": ["", "1", "soon", "h"],
    "email": ["", "ann", "ann@"],
    "hostname": ["", "-a", "a_b", "a..b", "a" * 64],
    "ipv4": ["256.0.0.1", "::1"],
    "ipv6": ["127.0.0.1", "fe80::1%eth0"],
    "cidr": ["10.0.0.0", "10.0.0.0/33", "x/8"],
    "mac": ["01:23:45:67:89", "01:23-45:67:89:ab"],
    "uri": ["", "h/x", "https://h:port", "https://[::1", "https://a b", "/%zz", "https://h/\n"],
    "uuid": ["123e4567"],
    "uuid4": ["123e4567-e89b-12d3-a456-426614174000"],
    "isbn": ["0-306-40615-3"],
    "creditcard": ["4111 1111 1111 1112"],
    "ssn": ["12-345-6789"],
    "hexcolor": ["#ffff"],
    "rgbcolor": ["rgb(1,2,256)"],
    "byte": ["a"],
    "bsonobjectid": ["507f1f77"],
    "k8s-short-name": ["my.name"],
    "k8s-long-name": ["My"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_a_format_takes_what_kube_openapi_takes(name: str, text: str) -> None:
    assert CHECKERS[enforced(name)](text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_a_format_refuses_what_kube_openapi_refuses(name: str, text: str) -> None:
    assert not CHECKERS[enforced(name)](text)


def test_number_formats_are_known_and_not_enforced() -> None:
    assert (enforced("int32"), recognized("int32")) == ("", True)


def test_other_formats_mean_nothing() -> None:
    assert (enforced("time"), recognized("time")) == ("", False)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("piece", ["1", "a.", "(", ":", "@", "1 ", "\u00e9", "é1"])
def test_hostile_texts_are_told_apart_as_quickly_as_others(name: str, piece: str) -> None:
    hostile = piece * 50_001

    assert CHECKERS[enforced(name)](hostile) is (name == "password")
