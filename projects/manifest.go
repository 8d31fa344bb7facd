package projects

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"
)

// A Kind says what an entry is.
type Kind string

// The kinds of entries.
const (
	File    Kind = "file"
	Dir     Kind = "dir"
	Symlink Kind = "symlink"
)

// An Entry is one file, folder or symbolic link of a project.
type Entry struct {
	Path    string      // in the project, slash separated; any bytes but NUL, UTF-8 or not
	Kind    Kind        //
	Mode    fs.FileMode // permission bits only
	Size    int64       // bytes of a file; 0 otherwise
	ModTime time.Time   // when the content last changed, by ModTime
	Hash    string      // a file's SHA-256 in hex; empty otherwise
	Link    string      // a link's target, relative within the project; empty otherwise
}

// MaxSeconds bounds the times of entries, in seconds before and after 1970: their nanoseconds are
// 64 bits, which last from 1678 to 2261.
const MaxSeconds = math.MaxInt64/int64(time.Second) - 1

// ModTime returns when the content of a file last changed, or the nearest time that an entry can
// have: programs set any time.
func ModTime(info fs.FileInfo) time.Time {
	t := info.ModTime()
	if nearest := max(-MaxSeconds, min(t.Unix(), MaxSeconds)); nearest != t.Unix() {
		return time.Unix(nearest, 0)
	}
	return t
}

// Executable reports whether a file's owner may run it: the one permission bit that counts for a
// revision, as in git.
func (e Entry) Executable() bool { return e.Kind == File && e.Mode&0o100 != 0 }

// A Manifest is the list of a project's files at one time. The zero value is an empty project. It
// may be read concurrently.
type Manifest struct {
	Dir     string  // the folder: absolute, without symbolic links
	Entries []Entry // sorted by path in byte order; a folder comes before what it holds
	// LeftOut is what rules left out, sorted by path, of a folder only itself.
	LeftOut []LeftOut
	// Skipped is sockets, named pipes and links to nothing, which are left out, sorted by path.
	Skipped []Skipped

	seen   map[string]identity // what the files were when they were hashed
	scopes map[string]scope    // the rules for folders of LeftOut, by path
}

// Include returns the lines for the .mlframeworkignore of the project that bring in a path which is
// left out, or is in a folder that is: more than one if further rules leave out what is in there.
func (m *Manifest) Include(l LeftOut, path string, folder bool) []string {
	lines := []string{l.Unless}
	rules := m.scopes[l.Path]
	for at := len(l.Path) + 1; at <= len(path); at++ {
		if at < len(path) && path[at] != '/' {
			continue
		}
		inner, ignored := rules.ignores(path[:at], at < len(path) || folder)
		if ignored && !slices.Contains(lines, inner.Unless) {
			lines = append(lines, inner.Unless)
		}
	}
	return lines
}

// LeftOut is a file or folder that does not belong to a project because a line of a rules file says
// so.
type LeftOut struct {
	Path   string // in the project
	Folder bool
	File   string // the rules file, in the project; "../.gitignore" lies in the folder above it
	Unless string // the line for the .mlframeworkignore of the project that brings it in again
}

// ByGit reports whether the rule is one of git: its writer may not have thought of us.
func (l LeftOut) ByGit() bool { return path.Base(l.File) == gitRules }

// revisionLength is 16 hex digits, 64 bits. Among a million revisions in one place the chance that
// any two meet by accident is 3 in 10^8, and nobody gains from making two meet: a revision is
// compared only with others of its own project.
const revisionLength = 16

// Revision is the content's name: the same for the same paths, kinds, executable bits, contents and
// link targets, wherever the folder lies, whatever the times, owners and other modes are. 16
// lower-case hex digits.
func (m *Manifest) Revision() string { return revisionOf(m.Entries) }

func revisionOf(entries []Entry) string {
	sum := sha256.New()
	sum.Write([]byte("mlframework revision 1\n"))
	for _, e := range entries {
		e.addTo(sum)
	}
	return hex.EncodeToString(sum.Sum(nil))[:revisionLength]
}

// addTo hashes every field with its length, so that no name can look like the end of another.
func (e Entry) addTo(sum hash.Hash) {
	mode := "-"
	if e.Executable() {
		mode = "x"
	}
	for _, field := range []string{string(e.Kind), mode, e.Path, e.Hash, e.Link} {
		sum.Write(binary.AppendUvarint(nil, uint64(len(field))))
		sum.Write([]byte(field))
	}
}

// Bytes is the size of all files together.
func (m *Manifest) Bytes() int64 {
	var n int64
	for _, e := range m.Entries {
		n += e.Size
	}
	return n
}

// entry finds a path.
func (m *Manifest) entry(path string) (Entry, bool) {
	i, found := slices.BinarySearchFunc(m.Entries, path, func(e Entry, path string) int {
		return strings.Compare(e.Path, path)
	})
	if !found {
		return Entry{}, false
	}
	return m.Entries[i], true
}
