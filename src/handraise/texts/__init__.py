"""The texts that people read: one catalogue for every surface, in the hub's language."""

from handraise.texts.catalogue import ENGLISH, Catalogue, UnknownLanguage, languages
from handraise.texts.messages import MissingText, language, strictly, t, use, using, whole
from handraise.texts.times import clock, day, moment, span

__all__ = [
    "ENGLISH",
    "Catalogue",
    "MissingText",
    "UnknownLanguage",
    "clock",
    "day",
    "language",
    "languages",
    "moment",
    "span",
    "strictly",
    "t",
    "use",
    "using",
    "whole",
]
