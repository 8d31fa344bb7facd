package server

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// nextData returns where a file has data from an offset on: from begin up to end, and a hole in
// front of it. Both are limit where only a hole is left. A file system that does not tell has data
// everywhere.
func nextData(f *os.File, from, limit int64) (begin, end int64) {
	begin, err := f.Seek(from, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return limit, limit
	case err != nil || begin < from:
		return from, limit
	}
	end, err = f.Seek(begin, unix.SEEK_HOLE)
	if err != nil || end <= begin {
		end = limit
	}
	return min(begin, limit), min(end, limit)
}

// dataSize is how many bytes of a file are in no hole, as far as its file system tells.
func dataSize(sweep *os.Root, name string, info fs.FileInfo) (data int64) {
	size := info.Size()
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Blocks*512 >= size {
		return size
	}
	f, err := openOutput(sweep, name, size)
	if err != nil {
		return size
	}
	defer f.Close()
	for at := int64(0); at < size; {
		begin, end := nextData(f, at, size)
		data += end - begin
		at = end
	}
	return data
}
