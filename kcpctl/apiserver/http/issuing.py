"""Making certificates: a self-signed authority, and what it signs; ECDSA P-256 throughout."""

import ipaddress
from collections.abc import Collection
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kcpctl.apiserver.exchange import User
from kcpctl.apiserver.http.keypair import KeyPair


def new_authority(common_name: str, start: datetime, end: datetime) -> KeyPair:
    """Return the certificate and key of a new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = (
        _builder(name, name, key, start, end)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return _pair(builder.sign(key, SHA256()), key)


def for_server(authority: KeyPair, names: Collection[str], start: datetime, end: datetime) -> KeyPair:
    """Return a certificate that proves a server to be any of these host names and IP addresses."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kcpctl")])
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in sorted(names)])
    return _signed(authority, subject, ExtendedKeyUsageOID.SERVER_AUTH, start, end, alternatives)


def for_client(authority: KeyPair, user: User, start: datetime, end: datetime) -> KeyPair:
    """Return a certificate that proves a client to be this user, a member of these groups."""
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in user.groups]
    subject = x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, user.name)])
    return _signed(authority, subject, ExtendedKeyUsageOID.CLIENT_AUTH, start, end, None)


def _signed(
    authority: KeyPair,
    subject: x509.Name,
    purpose: x509.ObjectIdentifier,
    start: datetime,
    end: datetime,
    alternatives: x509.SubjectAlternativeName | None,
) -> KeyPair:
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    signer = load_pem_private_key(authority.key, password=None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise ValueError(f"expected the authority's key to be ECDSA, found {type(signer).__name__}")
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(subject, issuer.subject, key, start, end)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if alternatives is not None:
        builder = builder.add_extension(alternatives, critical=False)
    return _pair(builder.sign(signer, SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(certificate.public_bytes(Encoding.PEM), private)
