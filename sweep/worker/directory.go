package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// makeDirectory makes the working directory of an attempt ready and tells whether an earlier attempt left outputs in it.
// What an earlier attempt made stays, its output files get its number, and links point to the attempt's revision.
func (j *job) makeDirectory(index int64) (dir string, resumed bool, err error) {
	dir = filepath.Join(j.folder, strconv.FormatInt(index, 10))
	err = os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed the sweep's folder meanwhile
		err = errors.Join(os.MkdirAll(j.folder, 0o777), os.Mkdir(dir, 0o777))
	}
	if resumed = errors.Is(err, fs.ErrExist); resumed {
		err = setAside(dir)
	}
	if err != nil {
		return dir, resumed, err
	}
	for _, l := range j.links {
		if err := l.make(dir); err != nil {
			return dir, resumed, err
		}
	}
	return dir, resumed, nil
}

// make puts the link into dir. A link to elsewhere is replaced; what a program made under the name stays.
func (l link) make(dir string) error {
	path := filepath.Join(dir, l.name)
	err := os.Symlink(l.target, path)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if target, err := os.Readlink(path); err != nil || target == l.target {
		return nil
	}
	return errors.Join(os.Remove(path), os.Symlink(l.target, path))
}

// setAside renames the output files of an earlier attempt to stdout.1.log and stderr.1.log, or the next free number.
func setAside(dir string) error {
	for n := 1; ; n++ {
		free := true
		for _, stream := range []string{"stdout", "stderr"} {
			_, err := os.Lstat(filepath.Join(dir, fmt.Sprintf("%s.%d.log", stream, n)))
			free = free && errors.Is(err, fs.ErrNotExist)
		}
		if free {
			return errors.Join(rename(dir, "stdout", n), rename(dir, "stderr", n))
		}
	}
}

func rename(dir, stream string, n int) error {
	err := os.Rename(filepath.Join(dir, stream+".log"), filepath.Join(dir, fmt.Sprintf("%s.%d.log", stream, n)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
