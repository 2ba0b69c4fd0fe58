"""The patterns of rules: globs for paths, and words with `*` for commands. Matched in linear time.

Never with a regular expression, which a hostile pattern could make backtrack without end. Never by a prefix of text:
the pattern of a command is compared with whole words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from handraise.policy.shell_words import Word

_TOKEN = re.compile(
    r"""'(?P<raw>[^']*)'|"(?P<quoted>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<plain>[^\s'"\\]+)""", re.DOTALL
)
_QUOTED_ESCAPE = re.compile(r'\\([$`"\\])')
_BARE = re.compile(r"[\w./:=,@%+^-]+")


class NameGlob(Struct, frozen=True):
    """The texts around the stars of a name or a word; one text alone means exactly this."""

    pieces: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Whether there is no star in it."""
        return len(self.pieces) == 1

    @property
    def is_anything(self) -> bool:
        """Nothing but stars."""
        return len(self.pieces) > 1 and not any(self.pieces)

    def fits(self, text: str) -> bool:
        """Each piece is searched for once, after the one before it."""
        first, *between = self.pieces
        if not between:
            return text == first
        last = between.pop()
        if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
            return False
        at, end = len(first), len(text) - len(last)
        for piece in between:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


@lru_cache(maxsize=1024)
def read_name(text: str) -> NameGlob:
    """A name with `*`, for tools and servers; upper and lower case differ."""
    return NameGlob(tuple(text.split("*")))


class PathGlob:
    """`*` and `?` stay within a name, `/**` spans any number of directories.

    All paths through the glob are followed at once, one bit each, so a letter costs the same whatever the glob.
    """

    def __init__(self, glob: str) -> None:
        steps = _read_steps(glob)
        self._literals = _literals(steps)
        self._letters: dict[str, int] = {}
        self._in_name = self._anywhere = self._one = self._skips_one = self._skips_two = 0
        for at, step in enumerate(steps):
            self._add(1 << at, step)
        self._end = 1 << len(steps)

    def fits(self, path: str) -> bool:
        """Whether the whole path fits."""
        if not all(each in path for each in self._literals):
            return False
        ways = self._skip(1)
        for letter in path:
            further = ways & self._letters.get(letter, 0)
            stays = ways & self._anywhere
            if letter != "/":
                further |= ways & self._one
                stays |= ways & self._in_name
            ways = self._skip(further << 1 | stays)
            if not ways:
                return False
        return bool(ways & self._end)

    def _add(self, bit: int, step: str) -> None:
        match step:
            case "*":
                self._in_name |= bit
                self._skips_one |= bit
            case "?":
                self._one |= bit
            case "/**":
                # Two places: before the slash, from where all of it can be skipped, and behind it.
                self._letters["/"] = self._letters.get("/", 0) | bit
                self._skips_two |= bit
            case "**":
                self._anywhere |= bit
                self._skips_one |= bit
            case letter:
                self._letters[letter] = self._letters.get(letter, 0) | bit

    def _skip(self, ways: int) -> int:
        """What can stand for nothing is passed: a star, then a `/**`; after that comes a slash or the end."""
        ways |= (ways & self._skips_one) << 1
        return ways | (ways & self._skips_two) << 2


@lru_cache(maxsize=1024)
def read_path(glob: str) -> PathGlob:
    """The glob of a normal path."""
    return PathGlob(glob)


def _read_steps(glob: str) -> list[str]:
    """Letters, `*`, `?`, and `/**` followed by its own `**`. Repeated stars are one."""
    steps: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("/**", at) and glob[at + 3 : at + 4] in ("", "/"):
            if steps[-2:] != ["/**", "**"]:
                steps += ["/**", "**"]
            at += 3
            continue
        if glob[at] != "*" or steps[-1:] != ["*"]:
            steps.append(glob[at])
        at += 1
    return steps


def _literals(steps: Sequence[str]) -> tuple[str, ...]:
    """What must be somewhere in the path, for a quick no."""
    text = "".join(each if len(each) == 1 and each not in "*?" else "\0" for each in steps)
    return tuple(each for each in text.split("\0") if each)


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
