"""Handraise: Claude Code raises its hand, the first answer is carried back."""
