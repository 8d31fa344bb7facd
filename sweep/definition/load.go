package definition

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mlframework/sweep/fault"
)

// Load reads the tasks.yml of the project in dir, and sees that the project has the paths that it
// names. Reserved are the names that no definition may have, the subcommands of run-tasks. The
// error is a fault.List of every fault in the order of the text, and then the *File is nil; a
// folder or file that is missing, is of the wrong kind or cannot be read is a fault too. Warnings
// may come with and without an error. It writes nothing, and opens no named pipe.
func Load(dir string, reserved []string) (*File, fault.List, error) {
	if f, ok := checkFolder(dir); !ok {
		return nil, nil, fault.List{f}
	}
	file := filepath.Join(dir, FileName)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.List{missing(dir)}
	case err != nil:
		return nil, nil, unreadable(file, err)
	case !info.Mode().IsRegular():
		return nil, nil, fault.List{{File: file, Problem: "is " + kindOf(info) + ", not a file"}}
	}
	data, err := readLimited(file)
	if err != nil {
		return nil, nil, unreadable(file, err)
	}
	return read(file, data, dir, reserved)
}

// readLimited reads one byte more than the reader accepts, so that it is the reader that refuses
// what is too long.
func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

func checkFolder(dir string) (fault.Fault, bool) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Fault{
			File: dir, Problem: "there is no such folder",
			Remedy: fmt.Sprintf("name a project's folder with -d, or make one: run-tasks init %s",
				dir),
		}, false
	case err != nil:
		return unreadable(dir, err)[0], false
	case !info.IsDir():
		return fault.Fault{
			File: dir, Problem: "is " + kindOf(info) + ", not a folder",
			Remedy: "name the folder that holds " + FileName,
		}, false
	}
	return fault.Fault{}, true
}

// missing explains a folder without tasks.yml by what stands in its place.
func missing(dir string) fault.Fault {
	f := fault.Fault{File: dir, Problem: "has no " + FileName}
	switch {
	case exists(filepath.Join(dir, "tasks.yaml")):
		f.Problem += ", but a tasks.yaml"
		f.Remedy = "rename it to " + FileName
	case exists(filepath.Join(dir, "tasks.py")):
		f.Problem += ", but a tasks.py of the old system"
		f.Remedy = "docs/migration.md shows how it becomes a " + FileName
	default:
		f.Remedy =
			"name another folder with -d, or create an example: run-tasks init DIR"
	}
	return f
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func unreadable(name string, err error) fault.List {
	var op *fs.PathError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fault.List{{File: name, Problem: "cannot be read: " + err.Error(),
		Remedy: "check its permissions"}}
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a folder"
	case info.Mode().IsRegular():
		return "a file"
	}
	return "a device, pipe or socket"
}
