import jax.numpy as jnp
import autograph.runtime as ag


@ag.converted
def histogram(xs, bins):
    counts = jnp.zeros(bins, int)

    def body(x, counts):
        counts = ag.update_item(counts, x, '+=', 1)
        return counts
    counts = ag.for_loop(xs, body, counts)
    return counts


@ag.converted
def sieve(n):
    prime = jnp.ones(100, bool)
    prime = ag.set_item(prime, ag.slice(None, 2), False)
    i = 2

    def body(prime, i):
        def then(prime):
            j = i * i

            def body(prime, j):
                prime = ag.set_item(prime, j, False)
                j += i
                return prime, j
            prime, j = ag.while_loop(lambda prime, j: j < 100, body, prime, j)
            return prime
        prime = ag.cond(ag.get_item(prime, i), then, ag.keep, prime)
        i += 1
        return prime, i
    prime, i = ag.while_loop(lambda prime, i: i * i < n, body, prime, i)
    return prime


class Counter:
    @ag.converted
    def add(self, x):
        ag.update_attr(self, 'total', '+=', x)
        ag.set_attr_item(self, 'seen', 0, x)
        return self.total
