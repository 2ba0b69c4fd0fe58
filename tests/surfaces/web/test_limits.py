"""How often somebody may try to log in."""

from handraise.surfaces.web.limits import TRIES, WINDOW, Attempts


def test_after_ten_tries_an_address_waits_a_minute_and_no_other_does() -> None:
    attempts = Attempts()
    assert all(attempts.begin("a", 0.0) for _ in range(TRIES))
    assert not attempts.begin("a", 1.0)
    assert attempts.begin("b", 1.0)
    assert not attempts.begin("a", WINDOW - 0.1)
    assert attempts.begin("a", WINDOW + 0.1)


def test_a_good_try_does_not_count() -> None:
    attempts = Attempts()
    for number in range(5 * TRIES):
        assert attempts.begin("a", float(number) / 100)
        attempts.forgive("a", float(number) / 100)


def test_what_is_refused_does_not_make_the_wait_longer() -> None:
    attempts = Attempts()
    for second in range(50):
        attempts.begin("a", float(second))
    assert attempts.begin("a", WINDOW + 0.5)


def test_no_number_of_addresses_fills_the_memory() -> None:
    attempts = Attempts()
    for number in range(30_000):
        attempts.begin(str(number), 0.0)
    assert len(attempts._tried) <= 10_000
