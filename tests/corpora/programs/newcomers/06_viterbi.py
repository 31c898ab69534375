"""Most likely path of a hidden Markov model."""
import math

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "viterbi"


@ag.function
def viterbi(obs, start, trans, emit):
    T = len(obs)
    S = len(start)
    score = jnp.zeros((T, S))
    back = jnp.zeros((T, S), dtype=int)
    for s in range(S):
        score[0, s] = jnp.log(start[s]) + jnp.log(emit[s, obs[0]])
    for t in range(1, T):
        if not 0 <= obs[t] < emit.shape[1]:
            raise ValueError(f"unknown symbol {obs[t]} at {t}")
        for s in range(S):
            best, arg = -math.inf, 0
            for p in range(S):
                candidate = score[t - 1, p] + jnp.log(trans[p, s])
                if candidate > best:
                    best, arg = candidate, p
            score[t, s] = best + jnp.log(emit[s, obs[t]])
            back[t, s] = arg
    path = [0] * T
    path[-1] = int(jnp.argmax(score[-1]))
    for t in reversed(range(1, T)):
        path[t - 1] = back[t, path[t]]
    return path, max(score[-1])


def cases():
    start = np.array([0.6, 0.4])
    trans = np.array([[0.7, 0.3], [0.4, 0.6]])
    emit = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    return [(np.array([0, 1, 2, 2, 0]), start, trans, emit),
            (np.array([2, 2, 1, 0, 0, 0, 2]), start, trans, emit),
            (np.array([0, 1, 3, 2]), start, trans, emit)]
