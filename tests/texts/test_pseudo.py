"""The pseudo-locale: longer, accented, and with its placeholders intact."""

from handraise.texts import pseudo


def test_a_message_is_accented_longer_and_bracketed() -> None:
    assert pseudo.message("Allow once") == "⟦Åłłóŵ óñçé~~~~⟧"


def test_placeholders_and_what_stands_in_backquotes_stay() -> None:
    assert pseudo.message("Run `{command}`, then {next}") == "⟦Ŕúñ `{command}`, ťĥéñ {next}~~~~~~~~~~⟧"
    assert pseudo.message("`handraise ps` shows it") == "⟦`handraise ps` šĥóŵš íť~~~~~~~~⟧"


def test_nothing_stays_nothing() -> None:
    assert pseudo.message("") == ""


def test_no_plain_letter_is_left() -> None:
    text = "The quick brown fox jumps over the lazy dog. THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG."
    assert not any(letter.isascii() and letter.isalpha() for letter in pseudo.accented(text))
    assert len(pseudo.accented(text)) == len(text)
