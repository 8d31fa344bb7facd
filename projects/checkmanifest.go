package projects

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
)

// maxPath is the longest path and link target of a manifest in bytes: PATH_MAX of Linux.
const maxPath = 4096

// Check reports whether a manifest that came from elsewhere is one that Scan could have made:
// sorted, each path once, clean and below a listed folder, whole fields, links that stay inside
// (else a *FileError), one size for each hash. Whoever puts its entries into an empty folder, links
// last, stays in that folder.
func (m *Manifest) Check() error {
	folders, links, sizes := map[string]bool{".": true}, map[string]string{}, map[string]int64{}
	var total int64
	for i, e := range m.Entries {
		if err := e.check(); err != nil {
			return fmt.Errorf("manifest: %s: %w", shown(e.Path), err)
		}
		if i > 0 && m.Entries[i-1].Path >= e.Path {
			return fmt.Errorf("manifest: %s is there twice or not in order", shown(e.Path))
		}
		if !folders[path.Dir(e.Path)] {
			return fmt.Errorf("manifest: %s is in no folder of the manifest", shown(e.Path))
		}
		size, known := sizes[e.Hash]
		if known && e.Kind == File && size != e.Size || e.Size > math.MaxInt64-total {
			return fmt.Errorf("manifest: %s: its size cannot be %d", shown(e.Path), e.Size)
		}
		total += e.Size
		switch e.Kind {
		case Dir:
			folders[e.Path] = true
		case Symlink:
			links[e.Path] = e.Link
		case File:
			sizes[e.Hash] = e.Size
		}
	}
	for _, e := range m.Entries {
		if e.Kind == Symlink && !Stays(e.Path, links) {
			return &FileError{Path: e.Path, Fault: LeavesProject, Detail: e.Link}
		}
	}
	return nil
}

// check looks at one entry alone.
func (e Entry) check() error {
	if !IsPath(e.Path) {
		return errors.New("not a path of a project")
	}
	sum, err := hex.DecodeString(e.Hash)
	hashed := err == nil && len(sum) == 32 && strings.ToLower(e.Hash) == e.Hash
	switch {
	case e.Mode != e.Mode.Perm():
		return fmt.Errorf("mode %v has more than permissions", e.Mode)
	case e.Kind == File && hashed && e.Size >= 0 && e.Link == "",
		e.Kind == Dir && e.Hash == "" && e.Size == 0 && e.Link == "",
		e.Kind == Symlink && e.Hash == "" && e.Size == 0 && e.Link != "" && text(e.Link):
		return nil
	}
	return fmt.Errorf("size, hash and target do not make a %s", shown(string(e.Kind)))
}

// IsPath reports whether p names something below a folder in the one way that a manifest writes it:
// clean, slash separated, neither absolute nor out of the folder.
func IsPath(p string) bool {
	return text(p) && p != "." && p != ".." && !strings.HasPrefix(p, "/") &&
		!strings.HasPrefix(p, "../") && path.Clean(p) == p
}

// text reports whether a system can take it for a path.
func text(p string) bool { return len(p) <= maxPath && !strings.Contains(p, "\x00") }
