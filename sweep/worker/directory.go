package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// enter makes the working directory of an attempt ready. What an earlier attempt made stays, and its output files get its
// number.
func (j *job) enter(ctx context.Context, a task.Attempt) (*folder.Checkout, error) {
	c, err := j.project.Enter(ctx, filepath.Join(j.folder, strconv.FormatInt(a.Index, 10)))
	if err != nil || !c.Resumed && a.Number == 1 {
		return c, err
	}
	if err := setAside(c.Dir, a.Number); err != nil {
		return nil, errors.Join(err, c.Leave())
	}
	return c, nil
}

// setAside gives the output files of an earlier attempt its number, or the next that is free: stdout.1.log and stderr.1.log. If
// the next attempt has that number, too, the earlier one was killed before its start was recorded: then its files are
// stdout.killed-1.log and stderr.killed-1.log. The number of the next is noted where it cannot be told otherwise.
func setAside(dir string, next int) error {
	folder, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	has := func(name string) bool {
		var there bool
		there, err = exists(filepath.Join(dir, name))
		return there && err == nil
	}
	noted := notedAttempt(folder)
	suffix, n := logSuffix, newestAttempt(noted, has)
	if n >= next {
		suffix, n = killedSuffix, 1
	}
	for err == nil && (has("stdout"+suffix(n)) || has("stderr"+suffix(n))) {
		n++
	}
	if err == nil {
		err = errors.Join(rename(dir, "stdout", suffix(n)), rename(dir, "stderr", suffix(n)))
	}
	if err != nil {
		return err
	}
	if noted != "" || newestAttempt("", has) != next {
		err = errors.Join(err, noteAttempt(dir, next))
	}
	return err
}

// noteAttempt writes attemptFile. A program may have put anything in its place.
func noteAttempt(dir string, number int) error {
	path := filepath.Join(dir, attemptFile)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, number)
	return errors.Join(err, file.Close())
}

// createOutput makes the file of a stream; what has its name gives way, and so does a link: a program may have put it there, and
// the worker may write where the program may not. os.OpenFile would try whether its end can be waited for: six calls of the system
// instead of one, for each task.
func createOutput(path string) (*os.File, error) {
	const again = 3 // a program that lives may put something there again
	for n := 0; ; n++ {
		f, err := openOutput(path, unix.O_CREAT|unix.O_EXCL)
		if !errors.Is(err, fs.ErrExist) || n == again {
			return f, err
		}
		if err := unix.Unlink(path); err != nil && err != unix.ENOENT && err != unix.EINTR {
			return nil, &os.PathError{Op: "unlink", Path: path, Err: err}
		}
	}
}

// continueOutput opens the file of a stream to write behind what is in it; it is made anew where it is not there, or is no file any
// more.
func continueOutput(path string) (*os.File, error) {
	f, err := openOutput(path, unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK) // a pipe that nobody reads would wait
	if err == nil {
		var s unix.Stat_t
		if err = unix.Fstat(int(f.Fd()), &s); err == nil && s.Mode&unix.S_IFMT == unix.S_IFREG {
			return f, nil
		}
		_ = f.Close()
	}
	return createOutput(path)
}

func openOutput(path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC|flags, 0o600)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if err != unix.EINTR {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// logFile is the file of a stream of the newest attempt.
func logFile(dir, stream string) string { return dir + "/" + stream + logSuffix(0) }

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func rename(dir, stream, suffix string) error {
	err := os.Rename(logFile(dir, stream), filepath.Join(dir, stream+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
