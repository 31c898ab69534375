"""Random walk Metropolis with an adapted step size."""
import jax
import jax.numpy as jnp

import autograph as ag

ENTRY = "run"


def log_density(x):
    if abs(x) > 8:
        return -jnp.inf
    return -0.5 * (x - 1) ** 2 / 0.49


@ag.function
def sample(key, x, n_steps=120, adapt_every=20):
    scale = 5.0
    accepted = window = 0
    mean = m2 = 0.0
    count = 0
    lp = log_density(x)
    if lp == -jnp.inf:
        raise ValueError("the chain starts outside the support")
    for i in range(n_steps):
        key, k1, k2 = jax.random.split(key, 3)
        proposal = x + scale * jax.random.normal(k1)
        lp_new = log_density(proposal)
        if jnp.log(jax.random.uniform(k2)) < lp_new - lp:
            x, lp = proposal, lp_new
            accepted += 1
            window += 1
        if (i + 1) % adapt_every == 0:
            rate = window / adapt_every
            if rate < 0.2:
                scale *= 0.5
            elif rate > 0.5:
                scale *= 1.5
            window = 0
        if i >= 40:
            count += 1
            delta = x - mean
            mean += delta / count
            m2 += delta * (x - mean)
    return mean, m2 / (count - 1), accepted / n_steps, scale


def run(seed, x):
    return sample(jax.random.key(seed), x)


def cases():
    return [(0, 0.0), (3, -2.0), (5, 9.0)]
