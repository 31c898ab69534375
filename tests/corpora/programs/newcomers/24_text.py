"""Text as codes: words, the longest word, capitals, vowels, a Caesar cipher, palindromes."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "describe"
VOWELS = [ord(c) for c in "aeiou"]


def is_letter(c):
    return ord("a") <= c <= ord("z") or ord("A") <= c <= ord("Z")


def is_palindrome(codes):
    i, j = 0, len(codes) - 1
    while i < j:
        if not is_letter(codes[i]):
            i += 1
        elif not is_letter(codes[j]):
            j -= 1
        else:
            if codes[i] | 32 != codes[j] | 32:
                return False
            i, j = i + 1, j - 1
    return True


@ag.function
def describe(codes, shift):
    counts = {"letters": 0, "vowels": 0, "words": 0, "other": 0}
    longest = length = 0
    start = longest_start = 0
    title = codes.copy()
    secret = jnp.array(codes)
    for i, c in enumerate(codes):
        if not is_letter(c):
            counts["other"] += 1
            length = 0
            continue
        counts["letters"] += 1
        if (lower := c | 32) in VOWELS:
            counts["vowels"] += 1
        if length == 0:
            counts["words"] += 1
            start = i
            title[i] = c & ~32
        length += 1
        if length > longest:
            longest, longest_start = length, start
        base = ord("a") if c >= ord("a") else ord("A")
        secret[i] = (c - base + shift) % 26 + base
    return counts, longest, longest_start, title, secret, is_palindrome(codes)


def codes(s):
    return np.array([ord(c) for c in s])


def cases():
    return [(codes("the quick Brown fox, jumped"), 3), (codes("A man a plan"), -5), (codes("Never odd or even!"), 13), (codes("... 42"), 1)]
