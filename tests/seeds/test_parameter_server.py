"""Item 33 of the articles: a parameter server, workers in other processes, and what goes wrong."""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.eager.server.handshake import _HELLO, _SIZE, _signed, introduce
from autograph.runtime.errors.errors import ServerError

pytestmark = pytest.mark.one_python

pytest.importorskip("optax", reason="optimizers need the extra `train`")

ROOT = Path(__file__).parent.parent.parent
WORKER = """
import sys, jax, jax.numpy as jnp, autograph as ag
port, name, steps, dies = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
w, b = ag.Variable(jnp.zeros(2)), ag.Variable(0.0)
key = jax.random.key(sum(map(ord, name)))
with ag.parameter_server.Worker(("127.0.0.1", port), {"w": w, "b": b}, name=name) as worker:
    for step in range(steps):
        x = jax.random.normal(jax.random.fold_in(key, step), (32, 2))
        y = x @ jnp.array([2.0, -1.0]) + 0.5
        worker.step(lambda: jnp.mean((x @ w + b - y) ** 2))
        if dies and step == dies:
            import os
            os._exit(9)  # as if it had been killed
"""


def model() -> dict[str, Any]:
    return {"w": ag.Variable(jnp.zeros(2)), "b": ag.Variable(0.0)}


def start(server: Any, name: str, steps: int, dies: int = 0) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(WORKER), str(server.address[1]), name, str(steps), str(dies)], cwd=ROOT)


def test_33_workers_in_processes_one_of_which_dies_and_comes_back() -> None:
    variables = model()
    with ag.parameter_server.Server(variables, ag.optimizers.SGD(0.1)) as server:
        one, two = start(server, "one", 40), start(server, "two", 40, dies=5)
        assert two.wait(120) == 9
        again = start(server, "two", 40)
        assert one.wait(120) == 0 and again.wait(120) == 0
        assert server.wait(40 + 6 + 40, timeout=30)
    assert server.steps == 86 and sum(server.ages.values()) == 86
    np.testing.assert_allclose(variables["w"].value, [2.0, -1.0], atol=0.02)
    np.testing.assert_allclose(variables["b"].value, 0.5, atol=0.02)


def test_33_gradients_are_applied_once_and_in_order() -> None:
    w = ag.Variable(3.0)
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1)) as server:
        copy = ag.Variable(0.0)
        with ag.parameter_server.Worker(server.address, {"w": copy}, name="a") as worker:
            for k in range(5):
                assert float(worker.step(lambda: copy * 5.0)) == pytest.approx(5 * (3.0 - 0.5 * k))
                server.wait(k + 1)
            number = worker._number
            with socket.create_connection(server.address) as again:  # the last one comes again: its answer had been lost
                session = introduce(again, b"")
                session.send("push", {"worker": "a", "number": number, "steps": 4}, {"w": np.float32(5.0)})
                assert session.receive().kind == "taken"
            time.sleep(0.2)
    assert server.steps == 5 and server.ages == {0: 5}
    np.testing.assert_allclose(w.value, 0.5, rtol=1e-6)


def test_33_a_full_queue_makes_workers_wait() -> None:
    w, entered, go = ag.Variable(0.0), threading.Event(), threading.Event()

    class Slow(ag.optimizers.SGD):
        def apply_gradients(self, *args: Any) -> Any:
            entered.set()
            go.wait(30)
            return super().apply_gradients(*args)

    with ag.parameter_server.Server({"w": w}, Slow(1.0), queue_size=1) as server:

        def work(name: str) -> None:
            with ag.parameter_server.Worker(server.address, {"w": ag.Variable(0.0)}, name=name) as worker:
                for _ in range(3):
                    worker.push([jnp.float32(1.0)])

        with ag.parameter_server.Worker(server.address, {"w": ag.Variable(0.0)}, timeout=0.3) as impatient:
            impatient.push([jnp.float32(1.0)])
            assert entered.wait(30)
            impatient.push([jnp.float32(1.0)])  # waits in the queue
            with pytest.raises(ServerError, match="the server has been busy for 0.3 s"):
                impatient.push([jnp.float32(1.0)])
        threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "c")]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        assert server.steps == 0
        go.set()
        for thread in threads:
            thread.join()
        assert server.wait(11, timeout=30)
    assert w == -11.0 and server.steps == 11


class Planted:
    opened = False

    def __reduce__(self) -> Any:
        return setattr, (Planted, "opened", True)


HEADER = struct.Struct("!4sIQ")
MALFORMED = {
    "letters": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a pickle": pickle.dumps(Planted()) + b"." * 64,
    "a pickle as arrays": HEADER.pack(b"AGM1", 28, 64) + b'{"kind":"push", "arrays":{}}' + pickle.dumps(Planted()).ljust(64, b"."),
    "no JSON": HEADER.pack(b"AGM1", 5, 0) + b"{kind",
    "deep JSON": HEADER.pack(b"AGM1", 200000, 0) + b"[" * 200000,
    "no object": HEADER.pack(b"AGM1", 2, 0) + b"[]",
    "no kind": HEADER.pack(b"AGM1", 2, 0) + b"{}",
    "another kind": HEADER.pack(b"AGM1", 30, 0) + b'{"kind": "stop", "arrays": {}}',
    "too large": HEADER.pack(b"AGM1", 10, 1 << 62) + b"{}" * 5,
    "a large header": HEADER.pack(b"AGM1", (1 << 32) - 1, 0) + b"{}",
    "half a message": HEADER.pack(b"AGM1", 100, 0) + b'{"kind"',
    "nothing": b"",
}


def test_33_malformed_messages_end_their_connection_and_nothing_else() -> None:
    w = ag.Variable(1.0)
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1), max_message=1 << 20) as server:
        for told, data in MALFORMED.items():
            with socket.create_connection(server.address, timeout=10) as bad:
                session, answer = introduce(bad, b""), b""
                data += _signed(session._key, session._mine, bytes(8), data)  # who knows the key may send nonsense, too
                with contextlib.suppress(OSError):  # it may be closed with data unread
                    bad.sendall(data)
                    bad.shutdown(socket.SHUT_WR)
                    while part := bad.recv(4096):
                        answer += part
            assert not answer or b"refused" in answer, told
        for fields, arrays, why in [
            ({"worker": "x", "number": 1, "steps": 0}, {"w": np.zeros(2, np.float32)}, "a gradient float32"),
            ({"worker": "x", "number": 1, "steps": 0}, {"v": np.float32(0)}, "which is none"),
            ({"worker": 3}, {}, "without the worker's name"),
        ]:
            with socket.create_connection(server.address, timeout=10) as bad:
                session = introduce(bad, b"")
                session.send("push", fields, arrays)
                message = session.receive()
                assert message.kind == "refused" and why in message.fields["why"]
        assert not Planted.opened and server.steps == 0
        copy = ag.Variable(0.0)
        with ag.parameter_server.Worker(server.address, {"w": copy}) as worker:
            worker.step(lambda: copy * 1.0)
        assert server.wait(1, timeout=30)
        assert sum(server.refused.values()) >= 11
    assert w == pytest.approx(0.9)


def test_33_a_server_that_comes_back() -> None:
    w, copy = ag.Variable(1.0), ag.Variable(0.0)
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.5)) as server:
        address = server.address
        worker = ag.parameter_server.Worker(address, {"w": copy})
        worker.step(lambda: copy * 1.0)
        server.wait(1)
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.5), address=address) as server:
        worker.step(lambda: copy * 1.0)
        assert server.wait(1, timeout=30)
    worker.close()
    assert w == 0.0


def test_33_what_is_wrong() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = other.getsockname()
    with pytest.raises(ServerError, match=f"there is no server at 127.0.0.1:{address[1]}"):
        ag.parameter_server.Worker(address, {"w": ag.Variable(1.0)}, timeout=0.2).pull()
    with pytest.raises(ServerError, match="has no trainable Variable"):
        ag.parameter_server.Server(ag.layers.Dense(2), ag.optimizers.SGD(0.1))
    with ag.parameter_server.Server({"w": ag.Variable(1.0)}, ag.optimizers.SGD(0.1)) as server:
        with pytest.raises(ServerError, match="cannot be listened at"):
            ag.parameter_server.Server({"w": ag.Variable(1.0)}, ag.optimizers.SGD(0.1), address=server.address).__enter__()

    class Broken(ag.optimizers.SGD):
        def apply_gradients(self, *args: Any) -> Any:
            raise ArithmeticError("the optimizer is broken")

    with pytest.raises(ArithmeticError, match="the optimizer is broken"):
        with ag.parameter_server.Server({"w": ag.Variable(1.0)}, Broken(0.1)) as server:
            with ag.parameter_server.Worker(server.address, {"w": ag.Variable(1.0)}) as worker:
                worker.push([jnp.float32(1.0)])
                server.wait(1)


def test_33_narrow_floats_go_over_the_wire() -> None:
    w, copy = ag.Variable(jnp.ones(3, jnp.bfloat16)), ag.Variable(jnp.zeros(3, jnp.bfloat16))
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.5)) as server:
        with ag.parameter_server.Worker(server.address, {"w": copy}) as worker:
            worker.step(lambda: jnp.sum(copy.value * 1.0))
        assert server.wait(1, timeout=30)
    assert copy.value.dtype == jnp.bfloat16 and w.value.tolist() == [0.5, 0.5, 0.5]


def test_33_a_push_without_gradients_stays_with_its_worker() -> None:
    w, copy = ag.Variable([1.0, 2.0]), ag.Variable([0.0, 0.0])
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1)) as server, ag.parameter_server.Worker(server.address, {"w": copy}) as worker:
        with pytest.raises(ServerError, match="no gradient is pushed"):
            worker.step(lambda: jnp.ones(3).sum())
        for wrong, why in (([1.0, 2.0], "2 gradients are pushed for 1 "), ({"w": 1.0}, "1 gradients"), ([(1.0, w)], "no Variable of this worker")):
            with pytest.raises(ServerError, match=why):
                worker.push(wrong)
        worker.push([np.ones(2)])  # a float64 array becomes what the Variable is
        assert server.wait(1, timeout=30)
    np.testing.assert_allclose(w, [0.9, 1.9], rtol=1e-6)
    with pytest.raises(ServerError, match="the address is '127.0.0.1:5000'"):
        ag.parameter_server.Worker("127.0.0.1:5000", {"w": copy})  # type: ignore[arg-type]


def test_33_who_does_not_know_the_key_is_not_let_in() -> None:
    w = ag.Variable(1.0)
    with pytest.raises(ServerError, match="can be reached from other machines, and there is no key"):
        ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1), address=("0.0.0.0", 0))  # noqa: S104
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(0.1), key="secret") as server:
        for key in (None, "Secret", b"secret2"):
            with pytest.raises(ServerError, match="do not know one key"):
                ag.parameter_server.Worker(server.address, {"w": ag.Variable(0.0)}, key=key).pull()
        with ag.parameter_server.Worker(server.address, {"w": (copy := ag.Variable(0.0))}, key=b"secret") as worker:
            worker.step(lambda: copy * 1.0)
            assert server.wait(1, timeout=30)
        assert server.refused["it does not know the key"] == 3
    assert w == pytest.approx(0.9)


class Recorder:
    """A worker's way to the server that keeps what it sends."""

    def __init__(self, server: Any) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address, self._server, self.sent = self.listening.getsockname(), server, b""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._thread.join(10)
        self.listening.close()

    def _run(self) -> None:
        near, _ = self.listening.accept()
        far = socket.create_connection(self._server.address)
        with near, far:
            self._between(near, far)

    def _between(self, near: socket.socket, far: socket.socket) -> None:

        def hand_on(a: socket.socket, b: socket.socket, keep: bool) -> None:
            with contextlib.suppress(OSError):
                while part := a.recv(1 << 16):
                    if keep:
                        self.sent += part
                    b.sendall(part)

        back = threading.Thread(target=hand_on, args=(far, near, False), daemon=True)
        back.start()
        hand_on(near, far, True)
        far.shutdown(socket.SHUT_RDWR)
        back.join(10)


def test_33_an_attacker(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 malformed messages, half-open and slow connections, what was recorded, a wrong key: nothing is lost, and nothing comes in."""
    monkeypatch.setattr("autograph.runtime.eager.server.handshake.SECONDS", 2.0)
    w, random = ag.Variable(1000.0), np.random.default_rng(0)
    with ag.parameter_server.Server({"w": w}, ag.optimizers.SGD(1.0), key="secret", max_message=1 << 16, whole=0.5) as server:
        recorder = Recorder(server)
        copy = ag.Variable(0.0)
        with ag.parameter_server.Worker(recorder.address, {"w": copy}, name="recorded", key="secret") as worker:
            worker.step(lambda: copy * 1.0)
            assert server.wait(1, timeout=30)
        recorder.close()
        recorded = recorder.sent
        assert recorded[: len(_HELLO)] == _HELLO and len(recorded) > 300

        halves = [socket.create_connection(server.address) for _ in range(200)]  # they say nothing, or a little
        for k, half in enumerate(halves):
            with contextlib.suppress(OSError):
                half.sendall(_HELLO[: k % 5])
        steps, honest = 30, ag.Variable(0.0)

        def work() -> None:
            with ag.parameter_server.Worker(server.address, {"w": honest}, name="honest", key="secret", timeout=60) as worker:
                for _ in range(steps):
                    worker.step(lambda: honest * 1.0)

        thread = threading.Thread(target=work)
        thread.start()
        for k in range(10_000):
            with contextlib.suppress(OSError), socket.create_connection(server.address, timeout=10) as bad:
                bad.recv(len(_HELLO) + _SIZE)
                match k % 5:
                    case 0:
                        bad.sendall(random.bytes(int(random.integers(1, 200))))
                    case 1:
                        bad.sendall(recorded)
                    case 2:
                        bad.sendall(_HELLO + random.bytes(2 * _SIZE) + list(MALFORMED.values())[k // 5 % len(MALFORMED)][:4096])
                    case 3:
                        bad.sendall(recorded[: int(random.integers(1, len(recorded)))])
                    case 4:
                        bad.sendall(_HELLO + bytes(2 * _SIZE))
        thread.join(120)
        assert not thread.is_alive() and server.wait(1 + steps, timeout=30)
        with socket.create_connection(server.address) as slow:  # it knows the key, and sends a byte now and then
            session = introduce(slow, b"secret")
            slow.sendall(b"A")
            time.sleep(1.0)
            slow.settimeout(5)
            with contextlib.suppress(OSError):
                assert slow.recv(1) == b""
        with socket.create_connection(server.address) as twice:  # a message that comes again in its own connection
            session = introduce(twice, b"secret")
            session.send("pull")
            assert session.receive().kind == "values"
            session._sent = 0
            session.send("pull")
            assert "not signed" in session.receive().fields["why"]
        for half in halves:
            half.close()
        assert server.steps == 1 + steps and not Planted.opened
    assert w == 1000.0 - (1 + steps)
