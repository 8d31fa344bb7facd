package projects

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
)

// intact reports whether the folder is the whole snapshot of m. It looks at sizes, which after a
// power cut tell the files that never reached the disk; only a file of another time than the
// project's is read: it was written to since, there or here.
func (m *Manifest) intact(ctx context.Context, folder string) bool {
	for _, e := range m.Entries {
		full := placed(folder, e)
		if e.Size > LinkSize {
			if !m.intactLarge(ctx, e, full) {
				return false
			}
			continue
		}
		info, err := os.Lstat(full)
		if err != nil || kindOf(info) != e.Kind || e.Kind == File && (info.Size() != e.Size ||
			!ModTime(info).Equal(e.ModTime) && !hasHash(ctx, full, e.Hash)) {
			return false
		}
		if target, err := os.Readlink(full); e.Kind == Symlink && (err != nil || target != e.Link) {
			return false
		}
	}
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// intactLarge reports whether a linked file leads to the entry's content.
func (m *Manifest) intactLarge(ctx context.Context, e Entry, full string) bool {
	info, err := os.Stat(full)
	if err != nil || !info.Mode().IsRegular() || info.Size() != e.Size {
		return false
	}
	source, err := os.Stat(placed(m.Dir, e))
	if err == nil && os.SameFile(info, source) && unchanged(e, source) {
		return true
	}
	return ModTime(info).Equal(e.ModTime) || hasHash(ctx, full, e.Hash)
}

func kindOf(info fs.FileInfo) Kind {
	switch info.Mode().Type() {
	case 0:
		return File
	case fs.ModeDir:
		return Dir
	case fs.ModeSymlink:
		return Symlink
	}
	return ""
}

// hasHash reads a file; what cannot be read has no hash.
func hasHash(ctx context.Context, full, hash string) bool {
	f, err := os.Open(full)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	return pour(ctx, sum, f) == nil && hexSum(sum) == hash
}
