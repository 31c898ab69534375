"""detecta: events in signals."""

from __future__ import annotations

from detecta import detect_cusum, detect_onset, detect_peaks, detect_seq
from detecta.detect_cusum import _cusum

from tests.campaigns.published import entry

PACKAGE = "detecta"


ENTRIES = [
    entry("detect_peaks", detect_peaks, lambda rng: (rng.normal(size=20),)),
    entry("detect_peaks far apart", lambda x: detect_peaks(x, mph=0.2, mpd=3), lambda rng: (rng.normal(size=20),)),
    entry("_cusum, the sums", lambda x: _cusum(x, 2.0, 0.1, "previous", 0.1, 3)[3:], lambda rng: (rng.normal(size=15),)),
    entry("detect_cusum", lambda x: detect_cusum(x, 1.5, 0.05, False, False), lambda rng: (rng.normal(size=15),)),
    entry("detect_onset", lambda x: detect_onset(x, 0.3, 2), lambda rng: (rng.normal(size=20),)),
    entry("detect_seq", lambda x: detect_seq(x, 1), lambda rng: (rng.integers(0, 2, size=12),)),
]
