"""The pattern of a rule: words with `*`. Never a prefix of text: a pattern is compared with whole words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from handraise.policy.words import Word

_TOKEN = re.compile(
    r"""'(?P<raw>[^']*)'|"(?P<quoted>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<plain>[^\s'"\\]+)""", re.DOTALL
)
_BARE = re.compile(r"[\w./:=,@%+^-]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One expression for each leading word; `rest` when a last `*` stands for any further words."""

    words: tuple[re.Pattern[str], ...]
    rest: bool = False

    @property
    def is_everything(self) -> bool:
        """`*` alone."""
        return self.rest and not self.words

    def fits(self, words: Sequence[Word]) -> bool:
        """Whether the words are literal where the pattern names them, and as it names them."""
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.rest):
            return False
        return all(word.literal and each.fullmatch(word.text) for each, word in zip(self.words, words, strict=False))

    def may_fit(self, words: Sequence[Word]) -> bool:
        """Whether they could fit, whatever the words that are not literal turn into."""
        for each, word in zip(self.words, words, strict=False):
            if not word.literal:
                return True
            if not each.fullmatch(word.text):
                return False
        return len(words) == len(self.words) or (self.rest and len(words) > len(self.words))


@lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern | None:
    """Words separated by blanks; quotes keep a blank or a `*` from being special. None where quotes do not close."""
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        expression, at = _read_word(text, at)
        if expression is None:
            return None
        words.append(expression)
    rest = bool(words) and words[-1] == ".*"
    return Pattern(tuple(re.compile(each, re.DOTALL) for each in (words[:-1] if rest else words)), rest)


def spell_pattern(words: Sequence[str], *, rest: bool) -> str:
    """The pattern that these words, and with `rest` any further ones, fit. `read_pattern` reads it back."""
    return " ".join([*(_quote(word) for word in words), *(["*"] if rest else [])])


@lru_cache(maxsize=1024)
def read_glob(text: str) -> re.Pattern[str]:
    """A name with `*`, for tools and servers; upper and lower case differ."""
    return re.compile(".*".join(re.escape(each) for each in text.split("*")), re.DOTALL)


def _read_word(text: str, at: int) -> tuple[str | None, int]:
    expression = ""
    while at < len(text) and not text[at].isspace():
        token = _TOKEN.match(text, at)
        if token is None:
            return None, at
        if token["plain"] is not None:
            expression += read_glob(token["plain"]).pattern
        elif token["quoted"] is not None:
            expression += re.escape(re.sub(r'\\([$`"\\])', r"\1", token["quoted"]))
        else:
            expression += re.escape(token["raw"] if token["raw"] is not None else token["escaped"])
        at = token.end()
    return expression, at


def _quote(word: str) -> str:
    return word if _BARE.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'"
