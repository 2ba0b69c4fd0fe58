"""Text with half characters in it."""

from hypothesis import given
from hypothesis import strategies as st

from handraise.model.asks import Origin, Permission
from handraise.store.changes import OpenAsk
from handraise.store.surrogates import mended
from store.examples import a_say, an_ask


@given(st.text(st.characters(categories=[*"LMNPSZ", "Cs", "Cc"])))
def test_what_is_mended_can_be_encoded_and_the_rest_is_untouched(text: str) -> None:
    whole = mended(text)

    assert whole.encode().decode() == whole
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert whole == text


def test_halves_that_belong_together_are_joined() -> None:
    assert mended("\ud83d\ude00 \ude00\ud83d") == "😀 \ufffd\ufffd"


def test_text_is_mended_however_deep_it_lies() -> None:
    halved = an_ask(body=Permission("Bash", {"\ud83d": [{"x": ("\ud83d", 1, None, True)}]}))

    assert mended(OpenAsk(halved)) == OpenAsk(
        an_ask(body=Permission("Bash", {"\ufffd": [{"x": ("\ufffd", 1, None, True)}]}))
    )


def test_the_letters_of_a_request_are_not_its_characters() -> None:
    origin = Origin("r", request='{"command": "echo \\ud83d"}')

    assert mended(origin) == origin


def test_what_is_whole_stays_equal() -> None:
    assert mended(a_say()) == a_say()
