"""Signatures: as the Standard Webhooks specification wants them, also while a secret is being replaced."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta

from handraise.model.webhooks import WebhookSecret
from handraise.surfaces.webhooks.signing import ENTROPY, OVERLAP, headers_of, make_secret, rotated, sign, valid

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PUBLISHED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_published_example_of_the_specification() -> None:
    signature = sign(PUBLISHED, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')

    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_has_the_prefix_and_all_of_its_bytes() -> None:
    secret = make_secret(bytes(range(ENTROPY)))

    assert secret.startswith("whsec_")
    assert b64decode(secret.removeprefix("whsec_")) == bytes(range(ENTROPY))


def test_the_headers_name_the_event_and_the_second_it_was_sent() -> None:
    headers = headers_of([WebhookSecret(PUBLISHED)], "msg_1", b"{}", NOW + timedelta(milliseconds=900))

    assert headers == {
        "webhook-id": "msg_1",
        "webhook-timestamp": "1772366400",
        "webhook-signature": sign(PUBLISHED, "msg_1", 1772366400, b"{}"),
    }


def test_a_replaced_secret_signs_for_a_day_too() -> None:
    first, second = make_secret(b"1" * ENTROPY), make_secret(b"2" * ENTROPY)

    secrets = rotated([WebhookSecret(first)], second, NOW)

    assert secrets == (WebhookSecret(second), WebhookSecret(first, NOW + OVERLAP))
    both = headers_of(secrets, "m", b"{}", NOW)["webhook-signature"].split(" ")
    seconds = int(NOW.timestamp())
    assert both == [sign(second, "m", seconds, b"{}"), sign(first, "m", seconds, b"{}")]
    assert [each.secret for each in valid(secrets, NOW + OVERLAP)] == [second]


def test_a_secret_that_is_replaced_twice_does_not_sign_longer() -> None:
    first, second, third = (make_secret(bytes([each]) * ENTROPY) for each in (1, 2, 3))
    later = NOW + timedelta(hours=20)

    secrets = rotated(rotated([WebhookSecret(first)], second, NOW), third, later)

    assert [(each.secret, each.until) for each in secrets] == [
        (third, None),
        (second, later + OVERLAP),
        (first, NOW + OVERLAP),
    ]


def test_at_most_three_secrets_sign() -> None:
    secrets: tuple[WebhookSecret, ...] = (WebhookSecret(make_secret(b"0" * ENTROPY)),)
    for each in range(1, 9):
        secrets = rotated(secrets, make_secret(bytes([each]) * ENTROPY), NOW)

    assert len(secrets) == 3
    assert secrets[0] == WebhookSecret(make_secret(bytes([8]) * ENTROPY))


def test_a_secret_is_in_no_log() -> None:
    assert PUBLISHED not in repr(WebhookSecret(PUBLISHED))
