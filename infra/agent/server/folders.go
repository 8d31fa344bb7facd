package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// makeFolders makes the cluster's folder with its marker first, and then folders in it, so that
// whoever comes after a call that was cut off knows whose it is.
func makeFolders(_ context.Context, f agent.Folders) error {
	if err := os.MkdirAll(f.Root, 0o700); err != nil {
		return err
	}
	root, err := openRoot(f.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(layout.MarkerFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		marker := layout.NewMarker(f.Owner, f.Cluster).Encode()
		err = replace(root, layout.MarkerFile, marker)
	}
	if err != nil {
		return err
	}
	for _, path := range f.Names {
		name, err := below(f.Root, path)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(name, 0o700); err != nil {
			return err
		}
		if f.UID == -1 {
			continue
		}
		if err := root.Chown(name, f.UID, f.GID); err != nil {
			return err
		}
	}
	return nil
}

// removeRoot removes a cluster's folder. One with another's marker stays.
func removeRoot(_ context.Context, f agent.Folders) error {
	root, err := openRoot(f.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		text, err := root.ReadFile(layout.MarkerFile)
		root.Close()
		m, wrong := layout.ParseMarker(text)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its making was cut off
			err = errors.Join(ignoreMissing(os.Remove(partOf(filepath.Join(f.Root,
				layout.MarkerFile)))),
				os.Remove(f.Root))
		case err != nil:
		case wrong != nil || m.Cluster != f.Cluster:
			err = fmt.Errorf("%s does not have this cluster's marker: it stays as it is", f.Root)
		default:
			err = removeAll(f.Root)
		}
		if err != nil {
			return err
		}
	}
	err = os.Remove(layout.Root(f.Root).Lock())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(filepath.Dir(f.Root)) // others may have something there
	return nil
}

// removeAll removes a folder with all that is in it: releases are read-only.
func removeAll(path string) error {
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return nil // what cannot be entered cannot be removed, and that is told below
	})
	return errors.Join(err, os.RemoveAll(path))
}
