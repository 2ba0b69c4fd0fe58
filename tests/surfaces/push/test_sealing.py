"""Encryption: the RFC's example byte for byte, and browsers decrypt what was encrypted."""

import os

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec

from handraise.surfaces.push.sealing import CURVE, MOST, NoSuchKey, public_point, read_point, seal
from surfaces.push.vendor import Phone, b64, unb64

# RFC 8291, appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
OURS = ec.derive_private_key(int.from_bytes(unb64("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big"), CURVE)
POINT = unb64("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
SECRET = unb64("BTBZMqHH6r4Tts7J_aSIgg")
SALT = unb64("DGv6ra1nlYgDCS1FRnbzlw")
SEALED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
    "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_rfc_is_sealed_to_the_letter() -> None:
    assert b64(seal(PLAIN, POINT, SECRET, ours=OURS, salt=SALT, padded=False)) == SEALED


@pytest.mark.parametrize("length", [0, 1, 1023, 1024, 1025, 3500, MOST])
def test_a_browser_opens_what_was_sealed_for_it(length: int) -> None:
    phone = Phone("https://push.example/1", "")
    message = os.urandom(length).replace(b"\0", b"1")
    sealed = seal(message, phone.point, phone.auth, ours=ec.generate_private_key(CURVE), salt=os.urandom(16))

    assert phone.open(sealed) == message
    assert len(sealed) <= 4096


def test_no_other_browser_opens_it() -> None:
    phone, other = Phone("https://push.example/1", ""), Phone("https://push.example/2", "")
    sealed = seal(PLAIN, phone.point, phone.auth, ours=ec.generate_private_key(CURVE), salt=os.urandom(16))
    with pytest.raises(InvalidTag):
        other.open(sealed)


def test_its_length_says_little_of_what_is_in_it() -> None:
    phone = Phone("https://push.example/1", "")
    ours = ec.generate_private_key(CURVE)
    lengths = {len(seal(b"x" * n, phone.point, phone.auth, ours=ours, salt=SALT)) for n in range(1, MOST, 37)}
    assert len(lengths) == 4


def test_what_is_too_long_or_no_key_is_refused() -> None:
    ours = ec.generate_private_key(CURVE)
    with pytest.raises(ValueError, match="at most 3993 bytes"):
        seal(b"x" * (MOST + 1), POINT, SECRET, ours=ours, salt=SALT)
    with pytest.raises(NoSuchKey):
        seal(b"x", POINT, SECRET[:15], ours=ours, salt=SALT)
    for wrong in (b"", POINT[:64], b"\x04" + bytes(64), b"\x04" + b"\xff" * 64, b"\x02" + POINT[1:33] + bytes(32)):
        with pytest.raises(NoSuchKey):
            read_point(wrong)
    assert public_point(read_point(POINT)) == POINT
