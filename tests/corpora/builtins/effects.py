"""Host effects: in a block that is data-dependent, and in a function that is traced."""

import datetime
import io
import os
import random
import sys
import time
from functools import partial

import numpy as np

from tests.corpora.builtins import Inputs, entry, traced

BLOCK = "the effect would happen once, at trace time, whichever branch is taken"
TRACE = "the number would be drawn at trace time, when the value is not known"
FILE = "a file needs the value at once"

ONE = Inputs(2.5, [2.5])  # the truth of one element is known
GENERATOR = np.random.default_rng(0)
SHARED = random.Random(0)

# The branch is taken: Python draws, reads or waits. Static values decide at once, which inside of a trace is the next section.
block = partial(entry, "Host effects in a staged block", x=ONE, **traced("AG405", BLOCK), in_traces=False)

block(lambda x: x + random.random() if x > 0 else x)
block(lambda x: x + random.uniform(0.0, 1.0) if x > 0 else x)
block(lambda x: x + random.gauss(0.0, 1.0) if x > 0 else x)
block(lambda x: x + random.randint(0, 9) if x > 0 else x)
block(lambda x: x + random.randrange(9) if x > 0 else x)
block(lambda x: x + random.choice([1, 2, 3]) if x > 0 else x)
block(lambda x: x + sum(random.sample(range(9), 2)) if x > 0 else x)
block(lambda x: (random.seed(1), x)[1] if x > 0 else x)
block(lambda x: x + (random.getstate() is not None) if x > 0 else x)
block(lambda x: x + (SHARED.random() < 2) if x > 0 else x)
block(lambda x: x + np.random.rand() if x > 0 else x)
block(lambda x: x + np.random.randn() if x > 0 else x)
block(lambda x: x + np.random.normal(0.0, 1.0) if x > 0 else x)
block(lambda x: x + np.random.randint(9) if x > 0 else x)
block(lambda x: (np.random.seed(1), x)[1] if x > 0 else x)
block(lambda x: x + (GENERATOR.random() < 2) if x > 0 else x)
block(lambda x: x + (time.time() > 0) if x > 0 else x)
block(lambda x: x + (time.perf_counter() > 0) if x > 0 else x)
block(lambda x: x + (time.monotonic() > 0) if x > 0 else x)
block(lambda x: (time.sleep(0), x)[1] if x > 0 else x)
block(lambda x: x + (datetime.datetime.now().year > 2000) if x > 0 else x)
block(lambda x: x + float(input()) if x > 0 else x)
block(lambda x: x + len(open(os.devnull).read()) if x > 0 else x)
block(lambda x: x + len(os.listdir(os.curdir)) * 0 if x > 0 else x)
block(lambda x: x + len(os.urandom(2)) if x > 0 else x)
block(lambda x: (sys.stdout.write("on\n"), x)[1] if x > 0 else x)
block(lambda x: x + next(iter([1.0])) if x > 0 else x, scalar="yes", array="yes", why="")
block(lambda x: x + random.Random(0).random() if x > 0 else x, scalar="yes", array="yes", why="")
block(lambda x: x + np.random.default_rng(0).random() if x > 0 else x, scalar="yes", array="yes", why="")
block(lambda x: (print("taken", x), x)[1] if x > 0 else x, scalar="yes", array="yes", why="")
block(lambda x: (print("not taken", x), x)[1] if x < 0 else x, scalar="yes", array="yes", why="")
block(lambda x: io.StringIO("abc").read() == "abc" and x if x > 0 else x, scalar="yes", array="yes", why="")


@block(label="`while x < 9: x = x + random.random()`", x=ONE)
def drawn_in_while(x):
    while x < 9:
        x = x + random.random()
    return x


@block(label="`if x > 0: t = helper()`, which calls `time.time`", x=ONE)
def drawn_in_callee(x):
    if x > 0:
        x = x + clock()
    return x


def clock():
    return time.time() > 0


trace = partial(entry, "Host effects in a function that is traced, outside of staged blocks", x=ONE, in_traces=False)

trace(lambda x: x + random.random())
trace(lambda x: x * random.choice([1, 2, 3]))
trace(lambda x: x + np.random.rand())
trace(lambda x: x + np.random.normal(size=3))


@trace(label="`for v in x: total += np.random.rand()`", x=Inputs(2.5, [0.5, 1.5, 2.5]), scalar=TypeError)
def drawn_in_for(x):
    total = 0.0
    for v in x:  # taken iteration by iteration, as under `jax.jit`: nothing traced decides that an iteration runs
        total += v + np.random.rand()
    return total


trace(lambda x: np.random.uniform(0.0, x), **traced("AG405", TRACE))
trace(lambda x: np.random.choice(x), x=Inputs(2.5, [0.5, 1.5]), scalar=None, array="AG405", why=TRACE)
trace(lambda x: np.random.permutation(x), x=Inputs(2.5, [0.5, 1.5]), scalar=None, array="AG405", why=TRACE)
trace(lambda x: np.random.shuffle(x), x=Inputs(2.5, [0.5, 1.5]), scalar=None, array="AG405", why=TRACE)
trace(lambda x: random.uniform(0.0, x), **traced("AG405", TRACE))
trace(lambda x: random.choice([x, x]), **traced("AG405", TRACE))
trace(lambda x: x + random.Random(0).random())
trace(lambda x: x + np.random.default_rng(0).random())
trace(lambda x: x + np.random.RandomState(0).rand())
trace(lambda x: x + (time.time() > 0))
trace(lambda x: x + (time.perf_counter() > 0))
trace(lambda x: x + float(input()))
trace(lambda x: x + len(open(os.devnull).read()))
trace(lambda x: print("traced", x))
trace(lambda x: np.savetxt(io.StringIO(), x), **traced("AG405", FILE))
trace(lambda x: open(os.devnull, "w").write(str(x)), **traced("AG502", "the text would be made at trace time, of a tracer"))
trace(lambda x: time.sleep(0 * x), scalar=TypeError, array=TypeError)
