"""seq2seq (paper, 15.4): one tanh cell encodes ragged input, then decodes greedily or teacher-forced, with early exit."""

import jax.numpy as jnp
import numpy as np
from jax import lax

RTOL, ATOL = 1e-3, 1e-4
SIZES = {
    f"b{b}_t{t}_{'forced' if f else 'greedy'}": dict(batch=b, steps=t, forced=f) for b in (32, 64, 128) for t in (64, 128) for f in (True, False)
}
SIZES.update(
    paper=SIZES["b64_t128_greedy"],
    check=dict(batch=4, steps=12, forced=False),
    check_forced=dict(batch=4, steps=12, forced=True),
    early=dict(batch=64, steps=128, forced=True, target_len=32),
)
EOS = 0


def inputs(batch, steps, forced, vocab=1000, features=50, hidden=256, target_len=None):
    r = np.random.RandomState(17)

    def tokens(longest):
        ids = r.randint(1, vocab, (batch, steps)).astype(np.int32)
        n = np.r_[longest, r.randint(longest // 2, longest, batch - 1)].astype(np.int32)
        ids[np.arange(steps)[None] >= n[:, None]] = EOS
        return ids, n

    src, lengths = tokens(steps)
    target, _ = tokens(target_len or steps)
    emb = r.rand(vocab, features).astype(np.float32)
    w = (r.randn(features + hidden, hidden) / np.sqrt(features + hidden)).astype(np.float32)
    b = (r.randn(hidden) * 0.1).astype(np.float32)
    b[EOS] -= 10.0  # greedy decoding never stops early, as in the benchmark's intent
    return src, lengths, target, emb, w, b


def static(forced, **_):
    return {"forced": forced}


def cell(x, h, w, b):
    return jnp.tanh(jnp.concatenate([x, h], 1) @ w + b)


def seq2seq(src, lengths, target, emb, w, b, forced):
    batch, n = target.shape
    x = emb[src]
    h = jnp.zeros((batch, w.shape[1]))
    for i in range(jnp.max(lengths)):
        h = jnp.where((i < lengths)[:, None], cell(x[:, i], h, w, b), h)
    outs = jnp.zeros((n, batch, w.shape[1]))
    done = jnp.zeros(batch, bool)
    word = jnp.zeros(batch, jnp.int32)
    for i in jnp.arange(n):
        h = cell(emb[word], h, w, b)
        out = jnp.where(done[:, None], 0.0, h)
        outs = outs.at[i].set(out)
        if forced:
            word = target[:, i]
        else:
            word = jnp.argmax(out, 1).astype(jnp.int32)
        done = done | (word == EOS)
        if jnp.all(done):
            break
    return outs


IMPERATIVE = seq2seq


def by_hand(src, lengths, target, emb, w, b, forced):
    batch, n = target.shape
    h = jnp.zeros((batch, w.shape[1]))

    def encode(h, ix):
        i, ids = ix
        return jnp.where((i < lengths)[:, None], cell(emb[ids], h, w, b), h), None

    h, _ = lax.scan(encode, h, (jnp.arange(src.shape[1]), src.T))

    def cond(c):
        i, _, _, done, _ = c
        return (i < n) & ~jnp.all(done)

    def body(c):
        i, h, word, done, outs = c
        h = cell(emb[word], h, w, b)
        out = jnp.where(done[:, None], 0.0, h)
        word = target[:, i] if forced else jnp.argmax(out, 1).astype(jnp.int32)
        return i + 1, h, word, done | (word == EOS), lax.dynamic_update_index_in_dim(outs, out, i, 0)

    init = (0, h, jnp.zeros(batch, jnp.int32), jnp.zeros(batch, bool), jnp.zeros((n,) + h.shape))
    return lax.while_loop(cond, body, init)[4]


BY_HAND = by_hand
