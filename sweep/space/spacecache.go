package space

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// maxOpenedBytes bounds the memory of spaces that are kept opened, in bytes.
const maxOpenedBytes = 32 << 20

// opened keeps the spaces with rules that were opened last. A list of sweeps reads all their
// records each time that it is asked for, and rules may have to be asked of millions of
// combinations. A space is never changed, so that all who have it share it.
var opened openedSpaces

type openedSpaces struct {
	mu    sync.Mutex
	all   []openedSpace // the one used last is the last
	bytes int
}

type openedSpace struct {
	stored [sha256.Size]byte // the hash of what was read
	space  *Space
	bytes  int
}

// open returns the space of what was stored, made by a function unless it is there.
func (o *openedSpaces) open(stored []byte, read func() (*Space, error)) (*Space, error) {
	key := sha256.Sum256(stored)
	if s := o.take(key); s != nil {
		return s, nil
	}
	s, err := read()
	if err == nil {
		o.keep(openedSpace{key, s, s.size() + len(stored)})
	}
	return s, err
}

func (o *openedSpaces) take(key [sha256.Size]byte) *Space {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.all, func(have openedSpace) bool { return have.stored == key })
	if i < 0 {
		return nil
	}
	found := o.all[i]
	o.all = append(slices.Delete(o.all, i, i+1), found)
	return found.space
}

func (o *openedSpaces) keep(s openedSpace) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all, o.bytes = append(o.all, s), o.bytes+s.bytes
	for o.bytes > maxOpenedBytes {
		o.bytes -= o.all[0].bytes
		o.all = slices.Delete(o.all, 0, 1)
	}
}

// size estimates the memory that a space takes, in bytes.
func (s *Space) size() int {
	const perTerm, perValue = 40, 24
	n := s.grid.Size() + 8*(len(s.only)+len(s.doubled)) +
		16*len(s.plan.listed.rows)*len(s.plan.listed.parameters)
	for p := range s.plan.parameters {
		n += perValue * len(s.plan.parameters[p].values)
		if s.terms != nil {
			n += perTerm * len(s.terms[p])
		}
	}
	return n
}
