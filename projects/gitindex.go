package projects

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// trackedIn returns a function that reports whether git tracks a path of the project, or something
// in it. The repository's root lies above the project, to which a path leads from there, or in it,
// in the folder nested; both have a slash at the end. The index is read when it is first needed.
func trackedIn(root, above, nested string) func(path string) bool {
	index := sync.OnceValue(func() map[string]bool { return readIndex(root) })
	return func(path string) bool { return index()[above+strings.TrimPrefix(path, nested)] }
}

// readIndex returns what the index of the repository in root has, with all folders on the way. In
// a linked worktree and in a submodule, .git is a file that names the folder. An index that cannot
// be read or that has another format tracks nothing; of a split one, the shared part is not read.
func readIndex(root string) map[string]bool {
	dir := filepath.Join(root, ".git")
	if text, err := os.ReadFile(dir); err == nil {
		if dir = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:")); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil {
		return nil
	}
	for _, hashSize := range []int{20, 32} { // SHA-1, SHA-256
		if tracked, ok := parseIndex(data, hashSize); ok {
			return tracked
		}
	}
	return nil
}

// parseIndex reads versions 2 to 4 of gitformat-index(5); false: data is not such an index.
func parseIndex(data []byte, hashSize int) (tracked map[string]bool, ok bool) {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, n := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	tracked, data = map[string]bool{}, data[12:]
	name := ""
	for range n {
		at := 40 + hashSize // of the flags, behind what stat(2) and the object have
		if len(data) < at+4 {
			return nil, false
		}
		flags := binary.BigEndian.Uint16(data[at:])
		if at += 2; flags&0x4000 != 0 { // extended
			at += 2
		}
		start := at
		if version == 4 { // without the first part of the name, which the one before has, too
			drop, size := offset(data[at:])
			if size == 0 || drop > len(name) {
				return nil, false
			}
			name, at = name[:len(name)-drop], at+size
		} else {
			name = ""
		}
		end := bytes.IndexByte(data[at:], 0)
		if end < 0 {
			return nil, false
		}
		name += string(data[at : at+end])
		if length := int(flags & 0xfff); length != min(len(name), 0xfff) {
			return nil, false
		}
		next := at + end + 1
		if version < 4 { // up to 8 zeros: entries have a multiple of 8 bytes
			next = (start+len(name))/8*8 + 8
		}
		data = data[min(next, len(data)):]
		for p := name; p != "." && !tracked[p]; p = path.Dir(p) {
			tracked[p] = true
		}
	}
	return tracked, true
}

// offset reads a number as git writes it where it shortens names, and in how many bytes; 0: none.
func offset(data []byte) (n, size int) {
	for i, b := range data[:min(len(data), 4)] {
		if n = n<<7 | int(b&0x7f); b&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}
