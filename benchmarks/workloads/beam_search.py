"""Beam search (paper, 15.1): beam 5, vocabulary 1000..30000, up to 80 tokens, alive and finished lists, early exit.

The decoder is a real, small one (tanh cell of 256 units, deterministic) where the original drew random logits in numpy.
With bias_eos = -1e4 the search never stops early, as in the original; "early" lets it stop.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RTOL, ATOL = 1e-3, 1e-3
SIZES = {f"t{t}_v{v}": dict(steps=t, vocab=v) for t in (10, 20, 40, 80) for v in (1000, 3000, 10000, 30000)}
SIZES.update(
    paper=SIZES["t40_v3000"],
    small=SIZES["t80_v1000"],
    check=dict(steps=12, vocab=200),
    check_early=dict(steps=40, vocab=200, bias_eos=3.0),
    early=dict(steps=80, vocab=3000, bias_eos=4.0),
)
BEAM, EOS, INIT, NEG = 5, 2, 1, -1e10


def inputs(steps, vocab, bias_eos=-1e4, hidden=256):
    r = np.random.RandomState(3)
    emb = (r.randn(vocab, hidden) * 0.5).astype(np.float32)
    u = (r.randn(hidden, hidden) / np.sqrt(hidden)).astype(np.float32)
    o = (r.randn(hidden, vocab) * 0.3).astype(np.float32)
    b = np.zeros(vocab, np.float32)
    b[EOS] = bias_eos
    return emb, u, o, b


def static(steps, **_):
    return {"steps": steps}


def decode(tok, h, emb, u, o, b):
    h = jnp.tanh(emb[tok] + h @ u)
    return jax.nn.log_softmax(h @ o + b), h


def best(seq1, lp1, seq2, lp2):
    lp, idx = lax.top_k(jnp.concatenate([lp1, lp2]), BEAM)
    return jnp.concatenate([seq1, seq2])[idx], lp


def start(emb, u, o, b, steps):
    first, h = decode(jnp.array([INIT]), jnp.zeros((1, u.shape[0])), emb, u, o, b)
    alive_lp, tok = lax.top_k(first[0], BEAM)
    alive = jnp.zeros((BEAM, steps), jnp.int32).at[:, 0].set(tok)
    done = jnp.zeros((BEAM, steps), jnp.int32).at[0, 0].set(EOS)
    done_lp = jnp.full(BEAM, NEG).at[0].set(first[0, EOS])
    return tok, jnp.repeat(h, BEAM, 0), alive, alive_lp, done, done_lp


def beam_search(emb, u, o, b, steps):
    vocab = b.shape[0]
    tok, h, alive, alive_lp, done, done_lp = start(emb, u, o, b, steps)
    for i in jnp.arange(1, steps):
        logp, h = decode(tok, h, emb, u, o, b)
        total = alive_lp[:, None] + logp
        ended = alive.at[:, i].set(EOS)
        done, done_lp = best(done, done_lp, ended, total[:, EOS])
        total = total.at[:, EOS].set(NEG)
        alive_lp, flat = lax.top_k(total.reshape(-1), BEAM)
        src, tok = flat // vocab, flat % vocab
        alive = alive[src].at[:, i].set(tok)
        h = h[src]
        if jnp.min(done_lp) > jnp.max(alive_lp):
            break
    return best(done, done_lp, alive, alive_lp)


IMPERATIVE = beam_search


def by_hand(emb, u, o, b, steps):
    vocab = b.shape[0]
    init = (jnp.int32(1), *start(emb, u, o, b, steps))

    def cond(c):
        i, _, _, _, alive_lp, _, done_lp = c
        return (i < steps) & ((i == 1) | (jnp.min(done_lp) <= jnp.max(alive_lp)))

    def body(c):
        i, tok, h, alive, alive_lp, done, done_lp = c
        logp, h = decode(tok, h, emb, u, o, b)
        total = alive_lp[:, None] + logp
        ended = alive.at[:, i].set(EOS)
        done, done_lp = best(done, done_lp, ended, total[:, EOS])
        total = total.at[:, EOS].set(NEG)
        alive_lp, flat = lax.top_k(total.reshape(-1), BEAM)
        src, tok = flat // vocab, flat % vocab
        return i + 1, tok, h[src], alive[src].at[:, i].set(tok), alive_lp, done, done_lp

    _, _, _, alive, alive_lp, done, done_lp = lax.while_loop(cond, body, init)
    return best(done, done_lp, alive, alive_lp)


BY_HAND = by_hand
