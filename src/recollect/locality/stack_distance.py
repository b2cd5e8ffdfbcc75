"""Stack distances: how many distinct keys have come since a key's last appearance.

Keys lie on a stack, the latest on top; the stack distance of a tuple is the depth at which its key
is found, 1 on top. A cache of C keys that forgets the least recently used one hits exactly the
tuples with a distance of at most C, so the distribution is the hit rate of all cache sizes at once.

Each key holds one slot in the order of last appearances, and its depth is the number of slots in
use from its own on. Slots are bits, and a Fenwick tree sums blocks of 512 of them, so that even for
millions of keys it fits the processor's cache. When the slots run out, those in use move together,
which costs O(1) per tuple in the mean; so the work is O(log keys) per tuple, and the memory follows
the keys, not the tuples.

References
----------
Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for storage hierarchies, IBM Systems Journal
9(2), 1970; Bennett, Kruskal: LRU stack processing, IBM Journal of Research and Development 19(4),
1975; GreedyDual-Join paper, section 2.2.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.compiled import cached, inlined, prefetch
from recollect.locality.distances import Distances, bin_of, new_counts

NEVER = -1
WORD = 64
BLOCK = 8
"""Words per node of the tree: as many as the processor fetches at once."""
SMALLEST = 4 * BLOCK * WORD
ROOMY = 4
"""After moving together there are at least so many slots per key."""
AHEAD = 8
"""So many tuples in advance their bits are fetched from memory, and twice as many their slots."""


@inlined
def _ones(word):  # type: ignore[no-untyped-def]
    """How many bits of a word are set (LLVM makes one instruction of it)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def _flip(bits, tree, slot, change):  # type: ignore[no-untyped-def]
    """Set (+1) or clear (-1) a slot."""
    bits[slot // WORD] ^= np.uint64(1) << np.uint64(slot % WORD)
    node = slot // (WORD * BLOCK) + 1
    while node < len(tree):
        tree[node] += change
        node += node & -node


@inlined
def _used_up_to(bits, tree, slot):  # type: ignore[no-untyped-def]
    """How many slots up to this one are in use, itself included."""
    word = slot // WORD
    node = word // BLOCK
    used = _ones(bits[word] << np.uint64(WORD - 1 - slot % WORD))
    for earlier in range(node * BLOCK, word):
        used += _ones(bits[earlier])
    while node > 0:
        used += tree[node]
        node &= node - 1
    return used


@cached
def _count(slot_of, key_at, bits, tree, state, numbers, start, counts):  # type: ignore[no-untyped-def]
    """Count from ``start`` on until the slots run out; return where that was."""
    used, free = state
    i = start
    while i < len(numbers) and free < len(key_at):
        if i + 2 * AHEAD < len(numbers):
            prefetch(slot_of, numbers[i + 2 * AHEAD])
            prefetch(bits, slot_of[numbers[i + AHEAD]] // WORD)
        number = numbers[i]
        slot = slot_of[number]
        if slot == NEVER:
            used += 1
        else:
            counts[bin_of(used - _used_up_to(bits, tree, slot) + 1)] += 1
            _flip(bits, tree, slot, -1)
        _flip(bits, tree, free, 1)
        slot_of[number] = free
        key_at[free] = number
        free += 1
        i += 1
    state[0] = used
    state[1] = free
    return i


@cached
def _move_together(slot_of, key_at, old_key_at, old_bits, bits, tree):  # type: ignore[no-untyped-def]
    """Give the slots in use the lowest places of new and empty slots, in the same order."""
    free = 0
    for slot in range(len(old_key_at)):
        if old_bits[slot // WORD] >> np.uint64(slot % WORD) & np.uint64(1):
            key_at[free] = old_key_at[slot]
            slot_of[key_at[free]] = free
            bits[free // WORD] |= np.uint64(1) << np.uint64(free % WORD)
            tree[free // (WORD * BLOCK) + 1] += 1
            free += 1
    for node in range(1, len(tree)):
        above = node + (node & -node)
        if above < len(tree):
            tree[above] += tree[node]
    return free


class StackDistance:
    """Counts, in one pass, how deep in the stack of recent keys each tuple's key is found.

    The state is at most 37 bytes per distinct key, and the counters.

    Examples
    --------
    >>> stack = StackDistance()
    >>> stack.add(np.array([0, 1, 1, 1, 0, 2, 0], np.int32))
    >>> found = stack.distances
    >>> found.counts[:4].tolist(), found.firsts
    ([0, 2, 2, 0], 3)
    """

    def __init__(self) -> None:
        self._slot_of = np.full(1024, NEVER, np.int32)
        self._new_slots(SMALLEST)
        self._state = np.zeros(2, np.int64)  # keys on the stack, first free slot
        self._counts = new_counts()

    def _new_slots(self, slots: int) -> None:
        self._key_at = np.empty(slots, np.int32)
        self._bits = np.zeros(slots // WORD, np.uint64)
        self._tree = np.zeros(slots // (WORD * BLOCK) + 1, np.int32)

    def add(self, numbers: NDArray[np.int32]) -> None:
        """Take the next tuples, as numbers of their keys
        (:class:`~recollect.locality.numbering.KeyNumbers`).
        """
        if not len(numbers):
            return
        if (largest := int(numbers.max())) >= len(self._slot_of):
            more = (1 << largest.bit_length()) - len(self._slot_of)
            self._slot_of = np.concatenate([self._slot_of, np.full(more, NEVER, np.int32)])
        done = 0
        while True:
            done = _count(
                self._slot_of, self._key_at, self._bits, self._tree, self._state,
                numbers, done, self._counts,
            )  # fmt: skip
            if done == len(numbers):
                return
            self._compact()

    def _compact(self) -> None:
        key_at, bits = self._key_at, self._bits
        slots = len(key_at)
        while slots < ROOMY * int(self._state[0]):
            slots *= 2
        self._new_slots(slots)
        self._state[1] = _move_together(
            self._slot_of, self._key_at, key_at, bits, self._bits, self._tree
        )

    @property
    def distances(self) -> Distances:
        """What has been counted so far."""
        return Distances(self._counts.copy(), int(self._state[0]))
