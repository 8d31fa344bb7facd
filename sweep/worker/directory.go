package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"mlframework/sweep/worker/folder"
)

// enter makes the working directory of an attempt ready. What an earlier attempt made stays, and its output files get its
// number.
func (j *job) enter(ctx context.Context, index int64) (*folder.Checkout, error) {
	c, err := j.project.Enter(ctx, filepath.Join(j.folder, strconv.FormatInt(index, 10)))
	if err != nil || !c.Resumed {
		return c, err
	}
	if err := setAside(c.Dir); err != nil {
		return nil, errors.Join(err, c.Leave())
	}
	return c, nil
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
