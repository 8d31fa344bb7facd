package grid

import (
	"math/bits"
	"sort"
)

// MostCodes is the number of combinations of tied axes up to which they are listed: a bitmap of
// 1.25 MB.
const MostCodes = 10_000_000

// block is the combinations of tied axes, or of one axis. A combination's code is the number that
// its digits write.
type block struct {
	axes  []int // in their order
	codes int64
	count int64   // survivors
	alive *bitmap // nil: every code is
}

// rank is how many survivors are before a code.
func (b *block) rank(code int64) int64 {
	if b.alive == nil {
		return code
	}
	return b.alive.rank(code)
}

// pick is the code of survivor k, counted from 0.
func (b *block) pick(k int64) int64 {
	if b.alive == nil {
		return k
	}
	return b.alive.pick(k)
}

// bitmap is a set of codes with a directory of ranks, which takes a sixteenth of what the bits
// take.
type bitmap struct {
	words  []uint64
	before []uint32 // survivors before every stretch of perEntry words, and of all at the end
}

const (
	perWord  = 64
	perEntry = 8 // words
)

// empty is a set of codes below n that has none yet. Its directory is made by count.
func empty(n int64) *bitmap { return &bitmap{words: make([]uint64, (n+perWord-1)/perWord)} }

// full is the set of all codes below n.
func full(n int64) *bitmap {
	m := empty(n)
	for i := range m.words {
		m.words[i] = ^uint64(0)
	}
	if rest := n % perWord; rest > 0 {
		m.words[len(m.words)-1] = 1<<rest - 1
	}
	m.count()
	return m
}

// count renews the directory and returns how many codes there are.
func (m *bitmap) count() int64 {
	m.before = m.before[:0]
	total := 0
	for i, word := range m.words {
		if i%perEntry == 0 {
			m.before = append(m.before, uint32(total))
		}
		total += bits.OnesCount64(word)
	}
	m.before = append(m.before, uint32(total))
	return int64(total)
}

func (m *bitmap) has(code int64) bool { return m.words[code/perWord]>>(code%perWord)&1 != 0 }
func (m *bitmap) add(code int64)      { m.words[code/perWord] |= 1 << (code % perWord) }
func (m *bitmap) drop(code int64)     { m.words[code/perWord] &^= 1 << (code % perWord) }

func (m *bitmap) rank(code int64) int64 {
	word := int(code / perWord)
	n := int64(m.before[min(word/perEntry, len(m.before)-1)])
	for i := word / perEntry * perEntry; i < min(word, len(m.words)); i++ {
		n += int64(bits.OnesCount64(m.words[i]))
	}
	if word < len(m.words) {
		n += int64(bits.OnesCount64(m.words[word] & (1<<(code%perWord) - 1)))
	}
	return n
}

func (m *bitmap) pick(k int64) int64 {
	entry := sort.Search(len(m.before), func(i int) bool { return int64(m.before[i]) > k }) - 1
	left := int(k - int64(m.before[entry]))
	for i := entry * perEntry; ; i++ {
		word := m.words[i]
		if n := bits.OnesCount64(word); n <= left {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			word &= word - 1 // without its lowest bit
		}
		return int64(i*perWord + bits.TrailingZeros64(word))
	}
}

func (m *bitmap) next(code int64) (int64, bool) {
	i := int(code / perWord)
	if i >= len(m.words) {
		return 0, false
	}
	if word := m.words[i] >> (code % perWord); word != 0 {
		return code + int64(bits.TrailingZeros64(word)), true
	}
	for near := i + 1; near < min(i+1+perEntry, len(m.words)); near++ {
		if m.words[near] != 0 {
			return int64(near*perWord + bits.TrailingZeros64(m.words[near])), true
		}
	}
	k := m.rank(code)
	if k == int64(m.before[len(m.before)-1]) {
		return 0, false
	}
	return m.pick(k), true
}
