package programtest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inode is which file something is, whatever it is called.
type inode struct{ device, number uint64 }

// Entry is a file, a folder or a link of a tree.
type Entry struct {
	Mode    fs.FileMode
	Size    int64  // of a file
	Content string // a hash of a file, the target of a link
	inode   inode
}

// text is what a file holds, or "-> TARGET".
func (e Entry) text(t testing.TB, file string) string {
	t.Helper()
	if e.Mode&fs.ModeSymlink != 0 {
		return "-> " + e.Content + "\n"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Tree is everything below a folder, by its path. Links are not followed.
func Tree(t testing.TB, dir string) map[string]Entry {
	t.Helper()
	all := map[string]Entry{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		all[name], err = entry(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func entry(file string) (e Entry, err error) {
	info, err := os.Lstat(file)
	if err != nil {
		return e, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	// Dev is an int32 on a Mac
	e = Entry{Mode: info.Mode(), inode: inode{uint64(stat.Dev), stat.Ino}}
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		e.Content, err = os.Readlink(file)
	case e.Mode.IsRegular() && info.Size() > 0 && stat.Blocks == 0:
		e.Size, e.Content = info.Size(), "nothing but zeros"
	case e.Mode.IsRegular():
		e.Size = info.Size()
		e.Content, err = sum(file)
	}
	return e, err
}

func sum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// Unchanged checks that a tree is as it was: every byte, every mode, and nothing more or less.
func Unchanged(t testing.TB, what string, before, now map[string]Entry) {
	t.Helper()
	var all strings.Builder
	for name, was := range before {
		is, there := now[name]
		is.inode, was.inode = inode{}, inode{}
		switch {
		case !there:
			fmt.Fprintf(&all, "\n  %s is gone", name)
		case was != is:
			fmt.Fprintf(&all, "\n  %s was %v, is %v", name, was, is)
		}
	}
	for name := range now {
		if _, was := before[name]; !was {
			fmt.Fprintf(&all, "\n  %s is new", name)
		}
	}
	if all.Len() > 0 {
		t.Errorf("%s was changed:%s", what, all.String())
	}
}
