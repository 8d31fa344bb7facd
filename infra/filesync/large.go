package filesync

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mlframework/projects"
)

// More than one of these is not sent without a person's word.
const (
	LargeFiles = 2000
	LargeBytes = 300 << 20 // 300 MiB
)

// CheckSize returns a *LargeError where so much is to be sent that a person is asked first. Entries
// that are no files do not count.
func CheckSize(entries []projects.Entry) error {
	large := &LargeError{}
	files, bytes := map[string]int{}, map[string]int64{} // by folder
	for _, e := range entries {
		if e.Kind != projects.File {
			continue
		}
		large.Files++
		large.Bytes += e.Size
		folder := "."
		if names := strings.Split(e.Path, "/"); len(names) > 1 {
			folder = strings.Join(names[:min(len(names)-1, 2)], "/")
		}
		files[folder]++
		bytes[folder] += e.Size
	}
	many := large.Files > LargeFiles
	if !many && large.Bytes <= LargeBytes {
		return nil
	}
	for name, n := range files {
		large.Folders = append(large.Folders, LargeFolder{name, n, bytes[name]})
	}
	slices.SortFunc(large.Folders, func(a, b LargeFolder) int {
		if many && a.Files != b.Files {
			return cmp.Compare(b.Files, a.Files)
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	large.Folders = large.Folders[:min(len(large.Folders), 3)]
	return large
}

// A LargeError asks for a person's word before so much is sent.
type LargeError struct {
	Files   int           // that are new to the host
	Bytes   int64         // in them
	Folders []LargeFolder // with the most of them, at most three
}

// LargeFolder is a folder of a project, up to two names deep, with all that is new in it.
type LargeFolder struct {
	Path  string // "." is the project's own
	Files int
	Bytes int64
}

func (e *LargeError) Error() string {
	var folders []string
	for _, f := range e.Folders {
		folders = append(folders, fmt.Sprintf("%q (%d files, %.1f MB)", f.Path, f.Files,
			float64(f.Bytes)/1e6))
	}
	return fmt.Sprintf("%d files with %.1f MB are new to the hosts; most are in %s", e.Files,
		float64(e.Bytes)/1e6, strings.Join(folders, ", "))
}
