package worker

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"mlframework/sweep/argv"
	"mlframework/sweep/task"
)

// writeParameters writes the parameter files of an attempt into its task's folder.
func writeParameters(dir string, g argv.Given) error {
	if g.File != nil {
		if err := writeFile(dir, g.To, g.File); err != nil {
			return err
		}
	}
	// What has this name already is of an earlier attempt, or the project's or the program's own.
	name := dir + "/" + task.ParametersFile
	err := createFile(name, g.Parameters)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if isPart(name, g.Parameters) {
		return errors.Join(os.Remove(name), createFile(name, g.Parameters))
	}
	return nil
}

// writeFile writes a file below a task's folder and replaces whatever is in its way: an earlier
// attempt may have put anything there, including links that lead out of the folder.
func writeFile(dir, path string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for at, c := range path {
		if c != '/' {
			continue
		}
		if info, err := root.Stat(path[:at]); err == nil && info.IsDir() {
			continue
		}
		if err := root.RemoveAll(path[:at]); err != nil {
			return err
		}
		if err := root.Mkdir(path[:at], 0o755); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(path); err != nil {
		return err
	}
	return root.WriteFile(path, text, 0o644)
}

// isPart reports whether a file has only the beginning of text: its writer was killed.
func isPart(name string, text []byte) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= int64(len(text)) {
		return false
	}
	part, err := os.ReadFile(name)
	return err == nil && bytes.HasPrefix(text, part)
}

// createFile writes a file that must not exist.
func createFile(name string, text []byte) error {
	fd, err := openFD(unix.AT_FDCWD, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	for len(text) > 0 && err == nil {
		var n int
		if n, err = unix.Write(fd, text); err == unix.EINTR {
			err = nil
		}
		text = text[max(n, 0):]
	}
	if closed := unix.Close(fd); err == nil && closed != unix.EINTR {
		err = closed
	}
	if err != nil {
		_ = unix.Unlink(name) // a part of it would be taken for all of it
		return &os.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}
