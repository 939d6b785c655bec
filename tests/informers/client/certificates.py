"""Certificates made on the spot, as clusters make theirs (ECDSA, and authorities without key identifiers)."""

import datetime
import ipaddress
import os
import ssl
import tempfile
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ALWAYS = (datetime.datetime(2020, 1, 1), datetime.datetime(2120, 1, 1))  # noqa: DTZ001 -- what the builder wants


@dataclass(frozen=True)
class Issued:
    """A certificate with its key, in PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Issues certificates."""

    def __init__(self, name="test authority"):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._certificate = (
            _builder(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name, *, hosts=()):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, self._name, key)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName([_host(h) for h in hosts]), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return Issued(certificate, _pem(key))

    def server_context(self, issued, *, want_client=False):
        """Return what a server needs to show the certificate, and to ask clients for one of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "both.pem")
            with open(path, "wb") as file:
                file.write(issued.certificate + issued.key)
            context.load_cert_chain(path)
        if want_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=self.pem.decode())
        return context


def encrypted(issued, passphrase):
    """Return the key behind a passphrase."""
    key = serialization.load_pem_private_key(issued.key, None)
    return _pem(key, serialization.BestAvailableEncryption(passphrase))


def _builder(subject, issuer, key):
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ALWAYS[0])
        .not_valid_after(ALWAYS[1])
    )


def _host(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key, encryption=None):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        encryption or serialization.NoEncryption(),
    )
