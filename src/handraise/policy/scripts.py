"""Arguments that are programs themselves: those of sed, awk, printf and test. Only simple ones are covered."""

import re
from collections.abc import Sequence

from handraise.policy.shell_words import Word

_SED_PLACE = r"(?:/[^/\\\n]*/|\d+|\$)"
_SED_ADDRESS = rf"(?:{_SED_PLACE}(?:,{_SED_PLACE})?)?"
_SED_SUBSTITUTE = r"s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*"
_SED_SAFE = re.compile(rf"{_SED_ADDRESS}(?:[pdq=]|{_SED_SUBSTITUTE})")
_SED_OPTIONS = frozenset({
    "-n", "-E", "-r", "-e", "-s", "-u", "-z", "--quiet", "--silent", "--regexp-extended", "--expression", "--posix",
})  # fmt: skip
_FILE_LIKE = re.compile(r"[\w./@+][\w./@+-]*")
# It writes files (`>`), runs programs (`system`, `|`) and loads code (`@`).
_AWK_REACHES = re.compile(r"system|getline|[|>@]")
_AWK_SEPARATOR = re.compile(r"-F.*", re.DOTALL)
_AWK_VARIABLE = re.compile(r"\w+=.*", re.DOTALL)
# Numbers are arithmetic in zsh, and arithmetic runs what is in a subscript.
_FORMAT = re.compile(r"(?!-)(?:[^%]|%%|%-?\d*\.?\d*[sbq])*", re.DOTALL)
_TEST_ONE = frozenset(f"-{each}" for each in "bcdefghkLnprsSuwxzOGN")
_TEST_TWO = frozenset(("=", "==", "!=", "-nt", "-ot", "-ef"))
_TEST_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_VARIABLE = re.compile(r'"\$(?:\w+|\{\w+\})"')


def sed_is_plain(words: Sequence[Word]) -> bool:
    """It writes files (`-i`, `w`) and runs programs (`e`)."""
    script_is_next = True
    for word in words:
        if word.literal and word.text in _SED_OPTIONS:
            script_is_next = script_is_next or word.text in ("-e", "--expression")
            continue
        known = _SED_SAFE if script_is_next else _FILE_LIKE
        script_is_next = False
        if not (word.literal and known.fullmatch(word.text)):
            return False
    return True


def awk_is_plain(words: Sequence[Word]) -> bool:
    """`-F`, `-v`, one program that reaches for nothing, and files."""
    if not all(word.literal and not _AWK_REACHES.search(word.text) for word in words if not _is_separator(word)):
        return False
    texts = [word.text for word in words]
    while texts and texts[0].startswith("-"):
        option = texts.pop(0)
        if option in ("-F", "-v") and texts:
            value = texts.pop(0)
            if option == "-v" and not _AWK_VARIABLE.fullmatch(value):
                return False
        elif not _AWK_SEPARATOR.fullmatch(option):
            return False
    return bool(texts) and all(_FILE_LIKE.fullmatch(each) for each in texts[1:])


def printf_is_plain(words: Sequence[Word]) -> bool:
    """`-v` sets a variable, also one with a subscript."""
    return bool(words) and words[0].literal and bool(_FORMAT.fullmatch(words[0].text))


def question_is_plain(words: Sequence[Word]) -> bool:
    """One question with a literal operator: `-v` and numbers run what is in a subscript."""
    if not all(word.literal or word.text in _TEST_TWO or _VARIABLE.fullmatch(word.text) for word in words):
        return False
    asked = list(words[1:] if words and words[0] == Word("!") else words)
    match asked:
        case [Word(text=text, literal=literal)]:
            return literal or bool(_VARIABLE.fullmatch(text))
        case [Word(text=operator, literal=True), _]:
            return operator in _TEST_ONE
        case [left, Word(text=operator), right]:
            numbers = all(each.literal and each.text.isdigit() for each in (left, right))
            return operator in _TEST_TWO or (operator in _TEST_NUMBERS and numbers)
        case _:
            return False


def _is_separator(word: Word) -> bool:
    """`-F'|'` and a `|` by itself aren't pipes."""
    return word.literal and (bool(re.fullmatch(r"-F[|>@]", word.text)) or word.text in ("|", ">", "@"))
