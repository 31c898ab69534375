"""Who is let in: both sides prove that they know a key, and every message is signed with a key of the connection.

A challenge and its answer, by HMAC-SHA256 (RFC 2104), in both directions, as `multiprocessing.connection` has it.  The key of the connection is made
of both challenges, and the signature of a message covers its number and its direction: what was recorded is refused in this connection and in any
other.  Nothing is encrypted: what the Variables hold can be read on the way.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import time
from collections.abc import Mapping
from typing import Any

from autograph.runtime.eager.server.wire import MOST_BYTES, Malformed, Message, exactly, receive, send_all, written

_SIZE = 32  # bytes of a challenge, and of a signature
_HELLO = b"AGP2"
SECONDS = 5.0  # for the challenges and their answers


class Refused(Exception):
    """The other side does not know the key."""


def _signed(key: bytes, *parts: bytes) -> bytes:
    return hmac.digest(key, b"".join(len(p).to_bytes(8, "big") + p for p in parts), "sha256")


class SignedSession:
    """A connection whose sides know each other: messages are sent and received in order, each signed."""

    def __init__(self, connection: socket.socket, key: bytes, mine: bytes, theirs: bytes) -> None:
        self._connection, self._key, self._mine, self._theirs = connection, key, mine, theirs
        self._sent = self._received = 0

    def send(self, kind: str, fields: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None) -> None:
        """Send a message.  Raises Closed."""
        data = written(kind, fields, arrays)
        send_all(self._connection, data + _signed(self._key, self._mine, self._sent.to_bytes(8, "big"), data))
        self._sent += 1

    def receive(self, most: int = MOST_BYTES, idle: float | None = None, whole: float | None = None) -> Message:
        """The next message.

        Args:
          most: how many bytes its arrays may have.
          idle: how many seconds it may take to begin.
          whole: how many seconds it may take from then on.

        Raises:
          Malformed: it is none, or is not signed by the other side.
          Closed: there is no more, it ends in the middle, or takes too long.
        """
        number = self._received.to_bytes(8, "big")

        def check(data: bytes, signature: bytes) -> None:
            if not hmac.compare_digest(signature, _signed(self._key, self._theirs, number, data)):
                raise Malformed("it is not signed with the key of this connection")

        message = receive(self._connection, most, idle, whole, _SIZE, check)
        self._received += 1
        return message


def admit(connection: socket.socket, key: bytes) -> SignedSession:
    """The server's side.

    Raises:
      Refused: the other side does not know the key.
      Closed: it has gone, or takes too long.
    """
    until = time.monotonic() + SECONDS
    challenge = secrets.token_bytes(_SIZE)
    send_all(connection, _HELLO + challenge)
    answer = exactly(connection, len(_HELLO) + 2 * _SIZE, until)
    theirs, proof = answer[len(_HELLO) : -_SIZE], answer[-_SIZE:]
    if answer[: len(_HELLO)] != _HELLO or not hmac.compare_digest(proof, _signed(key, b"worker", challenge, theirs)):
        send_all(connection, bytes(_SIZE))
        raise Refused("it does not know the key")
    send_all(connection, _signed(key, b"server", challenge, theirs))
    return SignedSession(connection, _signed(key, b"session", challenge, theirs), b"server", b"worker")


def introduce(connection: socket.socket, key: bytes) -> SignedSession:
    """The worker's side.

    Raises:
      Refused: what answers is no server that knows the key.
      Malformed: what answers is no server.
      Closed: it has gone, or takes too long.
    """
    until = time.monotonic() + SECONDS
    first = exactly(connection, len(_HELLO) + _SIZE, until)
    if first[: len(_HELLO)] != _HELLO:
        raise Malformed("it does not begin as a parameter server")
    challenge, mine = first[len(_HELLO) :], secrets.token_bytes(_SIZE)
    send_all(connection, _HELLO + mine + _signed(key, b"worker", challenge, mine))
    proof = exactly(connection, _SIZE, until)
    if not hmac.compare_digest(proof, _signed(key, b"server", challenge, mine)):
        raise Refused("it does not know the key")
    return SignedSession(connection, _signed(key, b"session", challenge, mine), b"worker", b"server")
