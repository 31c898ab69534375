"""Beam search over a table of log probabilities with a penalty for repetition and an end token."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "beam_search"
END = 0


def normalized(score, length, alpha=0.6):
    return score / ((5 + length) / 6) ** alpha


@ag.function
def beam_search(logp, penalty, width=3):
    """logp[t, previous, token]; gives the best sequence."""
    steps, vocab, _ = logp.shape
    beams = [(0.0, (1,), False)]
    for t in range(steps):
        candidates = []
        for score, tokens, done in beams:
            for v in range(vocab):
                s = score + logp[t, tokens[-1], v]
                if v in tokens:
                    s -= penalty
                if done:
                    s = score if v == END else -np.inf
                candidates.append((s, tokens + (v,), done or v == END))
        candidates.sort(key=lambda c: c[0], reverse=True)
        beams = candidates[:width]
        if all(done for _, _, done in beams):
            break
    best = max(beams, key=lambda b: normalized(b[0], len(b[1])))
    return jnp.array(best[1]), best[0], [b[0] for b in beams]


def cases():
    r = np.random.default_rng(0)
    a = np.log(r.dirichlet(np.ones(4), size=(3, 4)))
    b = np.log(r.dirichlet(np.ones(4), size=(3, 4)))
    return [(a, 0.5), (b, 0.0), (b, 2.0)]
