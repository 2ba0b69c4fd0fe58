"""How many clients can be connected at a time, and which are closed first."""

from handraise.api.limits import ConnectionLimit


class Client:
    def __init__(self) -> None:
        self.is_there = True

    def cut_off(self) -> None:
        self.is_there = False


def entered(room: ConnectionLimit, count: int) -> list[Client]:
    clients = [Client() for _ in range(count)]
    for client in clients:
        room.enter(client)
    return clients


def test_the_oldest_stranger_makes_room_for_the_newest() -> None:
    clients = entered(ConnectionLimit(3), 5)

    assert [client.is_there for client in clients] == [False, False, True, True, True]


def test_who_was_let_in_stays_until_the_request_is_answered() -> None:
    room = ConnectionLimit(3)
    known, other, _ = entered(room, 3)
    room.know(known)
    room.hear(known)

    crowd = entered(room, 10)
    assert known.is_there
    assert not other.is_there

    room.forget(known)
    crowd += entered(room, 3)
    assert not known.is_there
    assert sum(client.is_there for client in crowd) == 3


def test_where_everybody_is_known_the_newest_has_to_go() -> None:
    room = ConnectionLimit(2)
    known = entered(room, 2)
    for client in known:
        room.know(client)
        room.hear(client)

    (newest,) = entered(room, 1)

    assert not newest.is_there
    assert all(client.is_there for client in known)


def test_who_was_let_in_and_does_not_say_all_stays_only_while_there_are_strangers() -> None:
    room = ConnectionLimit(3)
    speaker, known, stranger = entered(room, 3)
    room.know(speaker)
    room.know(known)
    room.hear(known)

    (second,) = entered(room, 1)
    assert (speaker.is_there, stranger.is_there) == (True, False)

    room.know(second)
    (third,) = entered(room, 1)
    assert (speaker.is_there, known.is_there, second.is_there, third.is_there) == (False, True, True, True)


def test_who_has_left_takes_no_room_and_does_not_come_back() -> None:
    room = ConnectionLimit(2)
    first, second = entered(room, 2)
    room.leave(first)
    room.forget(first)

    (third,) = entered(room, 1)
    assert (second.is_there, third.is_there) == (True, True)
    (fourth,) = entered(room, 1)
    assert (first.is_there, second.is_there, third.is_there, fourth.is_there) == (True, False, True, True)
