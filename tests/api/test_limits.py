"""How often someone may try to sign in."""

from handraise.api.limits import SPARE, TRIES, WINDOW, Attempts


def test_after_ten_tries_a_client_waits_a_minute_and_no_other_does() -> None:
    attempts = Attempts()
    assert all(attempts.begin("a", 0.0) == "free" for _ in range(TRIES))
    assert attempts.begin("a", 1.0) != "free"
    assert attempts.begin("b", 1.0) == "free"
    assert attempts.begin("a", WINDOW - 0.1) != "free"
    assert attempts.begin("a", WINDOW + 0.1) == "free"


def test_a_good_try_does_not_count() -> None:
    attempts = Attempts()
    for number in range(5 * TRIES):
        assert attempts.begin("a", float(number) / 100) == "free"
        attempts.forgive("a", float(number) / 100)


def test_to_go_on_trying_does_not_make_the_wait_longer() -> None:
    attempts = Attempts()
    for second in range(50):
        attempts.begin("a", float(second))
    assert attempts.begin("a", WINDOW + 0.5) == "free"


def test_beyond_the_limit_some_tries_a_second_are_looked_at_and_no_flood_of_them() -> None:
    attempts = Attempts()
    for _ in range(TRIES):
        attempts.begin("a", 0.0)
    flood = [attempts.begin("a", 1.0 + number / 1000) for number in range(3000)]
    assert flood[0] == "beyond"
    assert SPARE <= flood.count("beyond") <= 4 * SPARE + 1
    assert flood.count("free") == 0
    # Once the flood is over it takes a moment; nobody else is locked out meanwhile.
    assert attempts.begin("b", 4.0) == "free"
    assert attempts.begin("a", 5.0) == "beyond"


def test_no_number_of_addresses_fills_the_memory() -> None:
    attempts = Attempts()
    for number in range(30_000):
        attempts.begin(str(number), 0.0)
    assert len(attempts._tried) <= 10_000
