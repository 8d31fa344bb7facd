package tail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

var errOut = errors.New("leads out of the task's folder and is not read")

// rootedFolder opens what is in a folder. Links are followed that lead to something in it, also
// those with absolute targets, which an os.Root refuses.
type rootedFolder struct {
	*os.Root
	dir string // absolute, and without links
}

func open(dir string) (in rootedFolder, err error) {
	if in.dir, err = filepath.EvalSymlinks(dir); err == nil {
		in.dir, err = filepath.Abs(in.dir)
	}
	if err == nil {
		in.Root, err = os.OpenRoot(in.dir)
	}
	return in, err
}

// resolve returns the path without links of what is in the folder, after refused.
func (in rootedFolder) resolve(path string, refused error) (string, error) {
	if errors.Is(refused, fs.ErrNotExist) || errors.Is(refused, fs.ErrPermission) {
		return "", refused
	}
	full, err := filepath.EvalSymlinks(filepath.Join(in.dir, path))
	if err != nil {
		return "", err
	}
	if path, err = filepath.Rel(in.dir, full); err != nil || !filepath.IsLocal(path) {
		return "", errOut
	}
	return path, nil
}

func (in rootedFolder) stat(path string) (fs.FileInfo, error) {
	info, err := in.Stat(path)
	if err != nil {
		if path, err = in.resolve(path, err); err == nil {
			info, err = in.Stat(path)
		}
	}
	return info, err
}

// open opens a file to read it; a pipe without a writer does not keep it waiting.
func (in rootedFolder) open(path string) (*os.File, error) {
	f, err := in.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if path, err = in.resolve(path, err); err == nil {
			f, err = in.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		}
	}
	return f, err
}
