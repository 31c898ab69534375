import jax.numpy as jnp


def histogram(xs, bins):
    counts = jnp.zeros(bins, int)
    for x in xs:
        counts[x] += 1
    return counts


def sieve(n):
    prime = jnp.ones(100, bool)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            j = i * i
            while j < 100:
                prime[j] = False
                j += i
        i += 1
    return prime


class Counter:
    def add(self, x):
        self.total += x
        self.seen[0] = x
        return self.total
