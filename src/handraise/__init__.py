"""Handraise: Claude Code raises its hand, the first answer is carried back."""

TYPE_CHECKING = False  # type checkers take the name for true; importing `typing` would cost each command 5 ms
if TYPE_CHECKING:
    from handraise.desk.remote import connect

__version__ = "0.1.0"
__all__ = ["connect"]


def __getattr__(name: str) -> object:
    """`connect` brings an HTTP client along, which most of this package does without."""
    if name != "connect":
        raise AttributeError(f"module 'handraise' has no attribute {name!r}")
    from handraise.desk.remote import connect  # noqa: PLC0415 (see above)

    return connect
