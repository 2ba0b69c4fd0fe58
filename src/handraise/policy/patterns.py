"""The pattern of a rule: words with `*`. Never a prefix of text: a pattern is compared with whole words."""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from handraise.policy.globs import NameGlob
from handraise.policy.shell_words import Word

_TOKEN = re.compile(
    r"""'(?P<raw>[^']*)'|"(?P<quoted>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<plain>[^\s'"\\]+)""", re.DOTALL
)
_QUOTED_ESCAPE = re.compile(r'\\([$`"\\])')
_BARE = re.compile(r"[\w./:=,@%+^-]+")


class Pattern(Struct, frozen=True):
    """One glob for each leading word; `rest` when a last `*` stands for any further words."""

    words: tuple[NameGlob, ...]
    rest: bool = False

    @property
    def is_everything(self) -> bool:
        """`*` alone."""
        return self.rest and not self.words

    @property
    def is_exact(self) -> bool:
        """Whether it names one command line, word for word."""
        return not self.rest and all(each.is_exact for each in self.words)

    @property
    def exact_words(self) -> int:
        """How many of the first words it names, without a star."""
        return next((at for at, each in enumerate(self.words) if not each.is_exact), len(self.words))

    def fits(self, words: Sequence[Word]) -> bool:
        """Whether the words are literal where the pattern names them, and as it names them."""
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.rest):
            return False
        return all(word.literal and each.fits(word.text) for each, word in zip(self.words, words, strict=False))

    def may_fit(self, words: Sequence[Word]) -> bool:
        """Whether they could fit, whatever the words that are not literal turn into."""
        for each, word in zip(self.words, words, strict=False):
            if not word.literal:
                return True
            if not each.fits(word.text):
                return False
        return len(words) == len(self.words) or (self.rest and len(words) > len(self.words))


@lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern | None:
    """Words separated by spaces; in quotes, a space or a `*` isn't special. None where a quote isn't closed."""
    words: list[NameGlob] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        word, at = _read_word(text, at)
        if word is None:
            return None
        words.append(word)
    rest = bool(words) and words[-1].is_anything and len(words[-1].pieces) == 2
    return Pattern(tuple(words[:-1] if rest else words), rest)


def spell_pattern(words: Sequence[str], *, rest: bool) -> str:
    """The pattern that matches these words, and with `rest` any further ones. `read_pattern` reads it back."""
    return " ".join([*(_quote(word) for word in words), *(["*"] if rest else [])])


def _read_word(text: str, at: int) -> tuple[NameGlob | None, int]:
    pieces = [""]
    while at < len(text) and not text[at].isspace():
        token = _TOKEN.match(text, at)
        if token is None:
            return None, at
        if token["plain"] is not None:
            first, *others = token["plain"].split("*")
        elif token["quoted"] is not None:
            first, others = _QUOTED_ESCAPE.sub(r"\1", token["quoted"]), []
        else:
            first, others = token["raw"] if token["raw"] is not None else token["escaped"], []
        pieces[-1] += first
        pieces += others
        at = token.end()
    return NameGlob(tuple(pieces)), at


def _quote(word: str) -> str:
    return word if _BARE.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'"
