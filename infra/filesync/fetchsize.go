package filesync

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// LargeFetch is how many bytes are not fetched without a person's word: 10 GB.
const LargeFetch = 10_000_000_000

// FetchSize is what a fetch, or several at once, are about to bring. A host says it: what it sends
// then is not more.
type FetchSize struct {
	Files int
	Bytes int64 // to come; holes of files do not count
	Room  int64 // that is needed beside Bytes until the end, in bytes
}

// Add adds what another fetch is about to bring.
func (s *FetchSize) Add(other FetchSize) {
	s.Files += other.Files
	s.Bytes = plus(s.Bytes, other.Bytes)
	s.Room = plus(s.Room, other.Room)
}

// plus adds sizes; where hosts made them up, and no number holds their sum, it is the largest.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Check refuses what the disk of a folder, which is there, has no room for. Of more than LargeFetch
// it asks, and goes on with nil; nil as a function refuses it, by the *LargeFetchError.
func (s FetchSize) Check(folder string, ask func(*LargeFetchError) error) error {
	free, err := freeSpace(folder)
	if err != nil {
		return fmt.Errorf("ask for the free space of %s: %w", folder, err)
	}
	if needed := plus(s.Bytes, s.Room); uint64(needed) > free {
		return fmt.Errorf("the outputs need %.1f GB, and %s has %.1f GB left: name fewer tasks or "+
			"files, or another folder", float64(needed)/1e9, folder, float64(free)/1e9)
	}
	large := &LargeFetchError{s, folder, free}
	switch {
	case s.Bytes <= LargeFetch:
		return nil
	case ask == nil:
		return large
	}
	return ask(large)
}

// freeSpace is how many bytes a user can write to the disk of a folder.
func freeSpace(folder string) (uint64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	for err == unix.EINTR {
		err = unix.Statfs(folder, &s)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), err
}

// A LargeFetchError asks for a person's word before so much is fetched.
type LargeFetchError struct {
	FetchSize
	Folder string // that it is for
	Free   uint64 // bytes that its disk has left
}

func (e *LargeFetchError) Error() string {
	return fmt.Sprintf("%.1f GB are to be fetched, in %d files; %s has %.1f GB left",
		float64(e.Bytes)/1e9, e.Files, e.Folder, float64(e.Free)/1e9)
}

// confirm decides whether a fetch of that size begins.
func (o FetchOptions) confirm(s FetchSize) error {
	if o.Confirm != nil {
		return o.Confirm(s)
	}
	return s.Check(o.Dir, nil)
}

// size is what the jobs are about to bring. A file that goes on from another's bytes is a copy of
// those for a while.
func (f *fetch) size() FetchSize {
	s := FetchSize{Files: len(f.jobs)}
	for _, j := range f.jobs {
		s.Bytes = plus(s.Bytes, j.rest())
		if j.offset > 0 && j.from == j.entry.Path && !j.compare {
			s.Room = max(s.Room, min(j.offset, j.entry.Data))
		}
	}
	return s
}
