"""The random streams of models, written anew from their documentation: what a draw of a name is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WORD = 0xFFFF_FFFF


def philox(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """Philox4x32-10 (Salmon and others, SC'11)."""
    c = list(counter)
    for turn in range(10):
        keys = [(key[0] + 0x9E37_79B9 * turn) & WORD, (key[1] + 0xBB67_AE85 * turn) & WORD]
        a, b = 0xD251_1F53 * c[0], 0xCD9E_8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ keys[0], b & WORD, (a >> 32) ^ c[3] ^ keys[1], a & WORD]
    return c


def lane(value: int) -> int:
    for shift, factor in ((16, 0x85EB_CA6B), (13, 0xC2B2_AE35)):
        value = ((value ^ (value >> shift)) * factor) & WORD
    return value ^ (value >> 16)


def hashed(name: str) -> int:
    """The upper half of the hash of a name."""
    first, second = 0x9E37_79B9, 0x7F4A_7C15
    for word in [int.from_bytes(b"draw", "big"), *name.encode()]:
        first = ((first ^ word) * 0x85EB_CA6B) & WORD
        second = ((second ^ word) * 0xC2B2_AE35) & WORD
        first, second = first ^ (first >> 15), second ^ (second >> 13)
    return lane(second ^ lane(first))


def words(seed: int, name: str, visit: int, number: int) -> Iterator[int]:
    """The words of a draw: of a name, in a round of its loop, by an entity with this number."""
    key, block = [seed & WORD, seed >> 32], 0
    while True:
        yield from philox([0xC000_0000 | block, visit, hashed(name), number], key)
        block += 1


def exponential_unit(word: int) -> int:
    """-ln((2 word + 1) / 2^33) in units of 2^-59, by the integers of the library."""
    zeros = 32 - word.bit_length()
    s = ((~(word << 1)) << (zeros % 32)) & WORD
    folded = s + (s >> 1)
    x, logarithms = (folded & WORD, 0x67CC_8FB4) if folded > WORD else (s, 0)
    for k, logarithm in ((2, 0x391F_EF8F), (3, 0x1E27_076E), (4, 0x0F85_1860)):
        folded = (x + (x >> k)) & WORD
        if folded >= 1 << 31:
            x, logarithms = folded, logarithms + logarithm
        x = (x << 1) & WORD
    high = x >> 16
    h3 = (high * (0xFEA6 + ((high * 0x0E77) >> 16))) >> 10
    h2 = (x * (0x0555_70A8 + h3)) >> 32
    h = (x * (0x7FFF_FD8A + h2)) >> 36
    return zeros * 0x058B_90BF_BE8E_0000 + (logarithms << 27) + (((x << 32) + x * h) >> 9)


def ticks_of(law: Mapping[str, Any], drawn: Iterator[int], ticks: int) -> int:
    """A time of a distribution in ticks, of which this many are a unit."""
    ((name, value),) = law.items()
    if name == "exponential":
        return (exponential_unit(next(drawn)) * int(round(value * ticks))) >> 59
    if name == "uniform":
        low, high = (int(round(end * ticks)) for end in value)
        a, b, c = (next(drawn) for _ in range(3))
        return low + ((a << 64 | b << 32 | c) * (high - low) >> 96)
    assert name == "constant", f"teach the streams this distribution: {name}"
    return int(round(value * ticks))


def arm(word: int, probabilities: Sequence[float]) -> int:
    """The first of some that a word selects; their number if none."""
    total = 0.0
    for number, probability in enumerate(probabilities):
        total += probability
        bound = WORD if abs(total - 1) < 1e-9 else min(round(total * 2**32), WORD - 1)
        if word < bound or bound == WORD:
            return number
    return len(probabilities)
