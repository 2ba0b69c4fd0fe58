"""Says what the stations behind a desk raise in the desk's own words."""

from collections.abc import Iterator
from contextlib import contextmanager

from handraise import feed
from handraise.desk.interface import Conflict, CutOff, LostPlace, NotFound, Refused, TooLate, Unfit
from handraise.inbox import errors
from handraise.model.answers import Misfit
from handraise.session import machine
from handraise.session.supervisor import NoSuchSession


@contextmanager
def in_words() -> Iterator[None]:
    """Whatever is raised inside."""
    try:
        yield
    except (NoSuchSession, errors.NoSuchAsk) as error:
        raise NotFound(str(error)) from error
    except machine.WishRefused as error:
        raise Refused(str(error)) from error
    except (Misfit, errors.RuleUnreadable) as error:
        raise Unfit(str(error)) from error
    except (errors.AlreadySettled, errors.NotWhatWasShown) as error:
        raise Conflict(str(error), error.ask) from error
    except errors.AlreadyWithdrawn as error:
        raise TooLate(str(error), error.ask) from error
    except feed.CursorGone as error:
        raise LostPlace(error.oldest, error.newest) from error
    except feed.FellBehind as error:
        raise CutOff(error.cursor) from error
