"""Handraise: Claude Code raises its hand, the first answer is carried back."""

__version__ = "0.1.0"
