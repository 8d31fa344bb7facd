package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// makeDirectory makes the working directory of an attempt ready and tells whether an earlier attempt left one.
// What an earlier attempt made stays, its output files get its number, and links point to the attempt's revision.
func (j *job) makeDirectory(index int64) (dir string, resumed bool, err error) {
	dir = filepath.Join(j.folder, strconv.FormatInt(index, 10))
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed the sweep's folder meanwhile
		err = errors.Join(os.MkdirAll(j.folder, 0o700), os.Mkdir(dir, 0o700))
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

// setAside renames the output files of an earlier attempt to stdout.1.log and stderr.1.log, or the next free number.
func setAside(dir string) error {
	for n := 1; ; n++ {
		stdout, err1 := exists(logFile(dir, "stdout", n))
		stderr, err2 := exists(logFile(dir, "stderr", n))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !stdout && !stderr {
			return errors.Join(rename(dir, "stdout", n), rename(dir, "stderr", n))
		}
	}
}

// logFile is the file of a stream, of the newest attempt (0) or an earlier one.
func logFile(dir, stream string, n int) string { return dir + "/" + stream + logSuffix(n) }

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func rename(dir, stream string, n int) error {
	err := os.Rename(logFile(dir, stream, 0), logFile(dir, stream, n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
