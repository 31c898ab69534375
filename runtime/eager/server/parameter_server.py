"""`ag.parameter_server`: one process holds the Variables and applies gradients as they come; workers, in other processes, compute them.

The scheme of DistBelief (Dean et al., *Large scale distributed deep networks*, 2012) and of TensorFlow: gradients may be of values that are some
steps old.  Where all devices belong to one program, a sharded `jit` does without that: see `docs/scale.md`.
"""

from __future__ import annotations

import contextlib
import ipaddress
import queue
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.eager.graph_of_objects import variables_in
from autograph.runtime.eager.server.handshake import Refused, SignedSession, admit, introduce
from autograph.runtime.eager.server.wire import MOST_BYTES, Closed, Malformed
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.errors.errors import ServerError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.state.locking import CHANGING

__all__ = [
    "Server", "Worker", "trained_in",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


Address = tuple[str, int]


class Server:
    """Holds Variables, gives their values to workers, and applies the gradients that these send, one after the other.

    Args:
      model: an object whose trainable Variables are trained, or a dict of Variables.
      optimizer: one of `ag.optimizers`.
      address: host and port; by default a free port on the loopback.
      key: a text or bytes that the workers have as well: who does not know it is not let in.  Beyond the loopback it is required.  Messages are
        signed with it, and not encrypted.
      queue_size: how many gradients may wait; a worker that comes with one more is told to come again.
      max_message: of how many bytes.
      idle: after how many seconds a worker that says nothing is let go; it comes back by itself.
      whole: how many seconds a message may take from its first byte on.

    Raises:
      ServerError: (AG711) there is no key, and the address is beyond the loopback; in its `with` block: the address cannot be listened at.

    In its `with` block it serves, in threads; `address` is where.

    >>> import autograph as ag
    >>> w = ag.Variable(3.0)
    >>> with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1)) as server:
    ...     copy = ag.Variable(0.0)  # in another process, as a rule
    ...     with ag.parameter_server.Worker(server.address, {"w": copy}) as worker:
    ...         for _ in range(5):
    ...             loss = worker.step(lambda: copy * 5.0)
    ...     server.wait(5)
    True
    >>> print(f"{float(w):.1f}")
    0.5
    """

    def __init__(
        self, model: Any, optimizer: Any, address: Address = ("127.0.0.1", 0), queue_size: int = 16, max_message: int = MOST_BYTES,
        key: str | bytes | None = None, idle: float = 3600.0, whole: float = 60.0,
    ) -> None:  # fmt: skip
        self._variables = trained_in(model)
        if key is None and not _is_loopback(address[0]):
            raise ServerError(
                f"{address[0]!r} can be reached from other machines, and there is no key", here(),
                "give the server and its workers one: `Server(..., key=secret)`, `Worker(..., key=secret)`",
            )  # fmt: skip
        self._key, self._idle, self._whole = _bytes(key), idle, whole
        self._strangers: list[socket.socket] = []  # connections that have not shown that they know the key, the oldest first
        self._optimizer, self._wanted, self._most = optimizer, address, max_message
        self._waiting: queue.Queue[Any] = queue.Queue(queue_size)
        self._threads: list[threading.Thread] = []
        self._connections: set[socket.socket] = set()
        self._lock, self._changed = threading.Lock(), threading.Condition()
        self._last: dict[str, int] = {}  # by worker, the number of the last gradients that have been taken
        self.steps = 0
        self.ages: Counter[int] = Counter()  # of how many steps before the values were that gradients came of
        self.refused: Counter[str] = Counter()  # connections that were ended, by why
        self._failed: BaseException | None = None

    def __enter__(self) -> Server:
        try:
            self._listening = socket.create_server(self._wanted)
        except OSError as error:
            where = f"{self._wanted[0]}:{self._wanted[1]}"
            raise ServerError(f"{where} cannot be listened at: {error.strerror or error}", here(), "choose port 0") from None
        self._listening.settimeout(0.1)
        self.address: Address = self._listening.getsockname()[:2]
        self._open = True
        self._start(self._accept)
        self._start(self._apply)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._open = False
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join()
        self._listening.close()
        if self._failed is not None and error is None:
            raise self._failed

    def wait(self, steps: int, timeout: float | None = None) -> bool:
        """Wait until that many gradients have been applied; False if the time, in seconds, is up before."""
        with self._changed:
            done = self._changed.wait_for(lambda: self.steps >= steps or self._failed is not None, timeout)
        if self._failed is not None:
            raise self._failed
        return done

    def _start(self, work: Callable[..., None], *args: Any) -> None:
        self._threads = [t for t in self._threads if t.is_alive() or t.ident is None]
        thread = threading.Thread(target=work, args=args, name="ag.parameter_server", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while self._open:
            try:
                connection, _ = self._listening.accept()
            except TimeoutError:
                continue
            with self._lock:
                self._connections.add(connection)
                self._strangers.append(connection)
                most = self._strangers[:-_MOST_STRANGERS]
            for stranger in most:
                with contextlib.suppress(OSError):
                    stranger.shutdown(socket.SHUT_RDWR)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        """One worker, as long as it is there."""
        session: SignedSession | None = None
        try:
            session = admit(connection, self._key)
            with self._lock:
                self._strangers.remove(connection)
            while self._open:
                message = session.receive(self._most, self._idle, self._whole)
                if message.kind == "pull":
                    with CHANGING:
                        values, steps = {path: v.value for path, v in self._variables.items()}, self.steps
                    session.send("values", {"steps": steps}, values)
                elif message.kind == "push":
                    session.send(self._take(message.fields, message.arrays))
                else:
                    raise Malformed(f"there is no message {message.kind[:40]!r}")
        except Malformed as error:
            self.refused[str(error)] += 1
            if session is not None:
                with contextlib.suppress(Closed):
                    session.send("refused", {"why": str(error)})
        except Refused as error:
            self.refused[str(error)] += 1
        except Closed:
            pass  # the worker has gone; it may come back
        finally:
            with self._lock:
                self._connections.discard(connection)
                if connection in self._strangers:
                    self._strangers.remove(connection)
            connection.close()

    def _take(self, fields: dict[str, Any], gradients: dict[str, Any]) -> str:
        worker, number, of = fields.get("worker"), fields.get("number"), fields.get("steps")
        if not isinstance(worker, str) or not isinstance(number, int) or not isinstance(of, int):
            raise Malformed("gradients come without the worker's name, their number and that of the step")
        if not gradients:
            raise Malformed("there is no gradient")
        for path, gradient in gradients.items():
            v = self._variables.get(path)
            if v is None or gradient.shape != v.shape or gradient.dtype != v.dtype:
                held = "none" if v is None else f"{v.dtype}{list(v.shape)}"
                raise Malformed(f"a gradient {gradient.dtype}{list(gradient.shape)} comes for {path!r}, which is {held}")
        with self._lock:
            if number <= self._last.get(worker, -1):
                return "taken"  # it has come before, and the worker has not heard of that
            try:
                self._waiting.put_nowait((gradients, of))
            except queue.Full:
                return "busy"
            self._last[worker] = number
        return "taken"

    def _apply(self) -> None:
        while self._open or not self._waiting.empty():
            try:
                gradients, of = self._waiting.get(timeout=0.05)
            except queue.Empty:
                continue
            try:
                with CHANGING:
                    self._optimizer.apply_gradients([(gradient, self._variables[path]) for path, gradient in gradients.items()])
                    self.ages[self.steps - of] += 1
                    self.steps += 1
            except Exception as error:  # told to who waits, and at the end of the block
                self._failed, self._open = error, False
            with self._changed:
                self._changed.notify_all()


class Worker:
    """Computes gradients for a server: it pulls the values into Variables of its own, and pushes gradients.

    Args:
      address: that of the server.
      model: an object with Variables of the same names and shapes as the server's, or a dict of them.
      name: tells workers apart; one that comes back under its name goes on.
      timeout: for how many seconds a server that is not there, or is busy, is asked again.
      key: that of the server.
    """

    def __init__(self, address: Address, model: Any, name: str | None = None, timeout: float = 30.0, key: str | bytes | None = None) -> None:
        if isinstance(address, str) or len(address) != 2:
            raise ServerError(f"the address is {address!r}", here(), 'give the host and the port: `("127.0.0.1", 5000)`')
        self._address, self._timeout = (str(address[0]), int(address[1])), timeout
        self._variables = trained_in(model)
        self.name = name or uuid.uuid4().hex
        self._number = time.time_ns()  # larger than those of a worker of the same name that has died
        self._steps = 0
        self._connection: socket.socket | None = None
        self._session: SignedSession | None = None
        self._key = _bytes(key)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.close()

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._session = None

    def pull(self) -> int:
        """Let the Variables hold what the server's hold now; gives how many steps these have made.

        Raises:
          ServerError: (AG711) the server is not there, or has other Variables.
        """
        message = self._asked("pull", {}, {})
        if set(message.arrays) != set(self._variables):
            other = sorted(set(message.arrays) ^ set(self._variables))
            raise ServerError(f"the server and this worker do not both have `{other[0]}`", here(), "make the same model in both")
        for path, v in self._variables.items():
            v.assign(message.arrays[path])
        self._steps = int(message.fields["steps"])
        return self._steps

    def push(self, gradients: Sequence[Any]) -> None:
        """Send gradients of the values that were pulled last: in the order of the trainable Variables, or pairs with these.

        Raises:
          ServerError: (AG711) the server is not there, stays busy, or rejects them.
        """
        paths = {id(v): path for path, v in self._variables.items()}
        given, variables = list(gradients), list(self._variables.values())
        if isinstance(gradients, dict) or len(given) != len(variables) and not all(isinstance(g, tuple) for g in given):
            raise ServerError(
                f"{len(given)} gradients are pushed for {len(variables)} trainable Variables",
                here(),
                "give one each, in their order, or pairs with them",
            )
        pairs = [g if isinstance(g, tuple) else (g, variables[k]) for k, g in enumerate(given)]
        if any(id(v) not in paths for _, v in pairs):
            raise ServerError("a gradient is pushed for no Variable of this worker's model", here(), "give pairs with its Variables")
        arrays = {paths[id(v)]: jnp.asarray(value_of(g), v.dtype) for g, v in pairs if g is not None}
        if not arrays:
            raise ServerError("no gradient is pushed: the loss does not depend on the Variables", here(), "compute it with those of the model")
        self._number += 1
        fields = {"worker": self.name, "number": self._number, "steps": self._steps}
        end, pause = time.monotonic() + self._timeout, 0.002
        while self._asked("push", fields, arrays).kind == "busy":
            if time.monotonic() > end:
                raise ServerError(f"the server has been busy for {self._timeout} s", here(), "use fewer workers, or a larger `queue_size`")
            time.sleep(pause)
            pause = min(2 * pause, 0.2)

    def step(self, loss: Callable[[], Any]) -> Any:
        """Pull, compute a loss and its gradients, push them; gives the loss."""
        self.pull()
        with GradientTape() as tape:
            value = loss()
        self.push(tape.gradient(value, list(self._variables.values())))
        return value

    def _asked(self, kind: str, fields: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """The answer of the server, which may have been away."""
        end, where = time.monotonic() + self._timeout, f"{self._address[0]}:{self._address[1]}"
        while True:
            try:
                if self._connection is None or self._session is None:
                    self._connection = socket.create_connection(self._address, timeout=self._timeout)
                    self._session = introduce(self._connection, self._key)
                self._session.send(kind, fields, arrays)
                message = self._session.receive()
            except (OSError, Closed) as error:
                self.close()
                if time.monotonic() > end:
                    raise ServerError(f"there is no server at {where}: {error}", here(), "start it, or give its address") from None
                time.sleep(0.05)
                continue
            except Refused as error:
                self.close()
                raise ServerError(f"the server at {where} and this worker do not know one key: {error}", here(), "give both the same `key`") from None
            except Malformed as error:
                self.close()
                raise ServerError(f"what answers at {where} is no parameter server: {error}", here(), "give its address") from None
            if message.kind == "refused":
                self.close()
                raise ServerError(f"the server rejects a message: {message.fields.get('why')}", here(), "make the same model in both")
            return message


def _bytes(key: str | bytes | None) -> bytes:
    return b"" if key is None else key.encode() if isinstance(key, str) else bytes(key)


def _is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_MOST_STRANGERS = 64  # connections that have not shown yet that they know the key: the oldest goes for another


def trained_in(model: Any) -> dict[str, Any]:
    """The trainable Variables of an object, by their paths."""
    found = {path: v for path, v in variables_in(model if isinstance(model, dict) else {"": model}).items() if v.trainable}
    if not found:
        raise ServerError(f"a `{type(model).__name__}` has no trainable Variable", here(), "call a model once before, so that it is built")
    return found
