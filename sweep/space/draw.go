package space

import (
	"math/bits"
	"slices"
)

// draw returns so many different numbers below n, in their order, n being at least as many. The
// same seed gives the same numbers in every release and on every machine, and those of a smaller
// sample are among those of a larger one: the first of the numbers below n as a Fisher-Yates
// shuffle leaves them (Durstenfeld, Algorithm 235: Random permutation, CACM 7, 1964), of which only
// what was swapped is kept, with numbers of SplitMix64 (Steele, Lea and Flood, Fast splittable
// pseudorandom number generators, OOPSLA 2014), made to lie below a bound as Lemire does (Fast
// random integer generation in an interval, TOMACS 29, 2019).
func (s sample) draw(n int64) []int64 {
	state, swapped := splitMix(s.Seed), newSwaps(s.Combinations)
	all := make([]int64, s.Combinations)
	for i := range s.Combinations {
		from := swapped.find(i + int64(state.below(uint64(n-i))))
		all[i] = *from
		*from = *swapped.find(i)
	}
	slices.Sort(all)
	return all
}

// swaps are the numbers that stand at positions, each at its own until it is swapped. Those behind
// the first positions are in a hash table with linear probing: a map of a million takes several
// times as long.
type swaps struct {
	first []int64
	slots []swap
	mask  uint64
}

type swap struct{ next, number int64 } // next is the position + 1, 0 in a free slot

// newSwaps has room for so many first positions, and as many others.
func newSwaps(most int64) *swaps {
	size := uint64(1) << bits.Len64(uint64(2*most))
	s := &swaps{make([]int64, most), make([]swap, size), size - 1}
	for i := range s.first {
		s.first[i] = int64(i)
	}
	return s
}

// find returns the number at a position, which may be set.
func (s *swaps) find(position int64) *int64 {
	if position < int64(len(s.first)) {
		return &s.first[position]
	}
	for i := uint64(position) * 0x9e3779b97f4a7c15 >> 32 & s.mask; ; i = (i + 1) & s.mask {
		switch slot := &s.slots[i]; slot.next {
		case 0:
			*slot = swap{position + 1, position}
			return &slot.number
		case position + 1:
			return &slot.number
		}
	}
}

type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number below n, each as likely.
func (s *splitMix) below(n uint64) uint64 {
	high, low := bits.Mul64(s.next(), n)
	for threshold := -n % n; low < threshold; {
		high, low = bits.Mul64(s.next(), n)
	}
	return high
}
