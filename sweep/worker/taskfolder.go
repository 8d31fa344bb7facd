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

// enterWorkspace prepares the working directory of an attempt. What an earlier attempt made stays;
// its output files are renamed to carry its number. A fresh attempt gets a new folder.
func (j *job) enterWorkspace(ctx context.Context, a task.Attempt) (*folder.Workspace, error) {
	dir := filepath.Join(j.folder, strconv.FormatInt(a.Index, 10))
	if err := keepFolder(dir, a.Fresh); err != nil {
		return nil, err
	}
	ws, err := j.project.Enter(ctx, dir)
	if err != nil || !ws.Resumed && a.Number == 1 {
		return ws, err
	}
	if err := setAside(ws.Dir, a.Number); err != nil {
		return nil, errors.Join(err, ws.Leave())
	}
	return ws, nil
}

// keepFolder renames the folder of a task if all attempts in it are older than attempt fresh, so
// that the next one starts in a new folder.
func keepFolder(dir string, fresh int) error {
	if fresh == 0 {
		return nil
	}
	fd, err := openFolder(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil // a link that a program put there is no folder of the task
	case err != nil:
		return err
	}
	newest := newestIn(fd)
	unix.Close(fd)
	if newest >= fresh {
		return nil
	}
	to := keptFolder(dir, newest)
	for n := 2; ; n++ { // the name is taken if the worker was killed before numbering a new folder
		there, err := exists(to)
		if !there {
			return errors.Join(err, os.Rename(dir, to))
		}
		to = fmt.Sprintf("%s.%d", keptFolder(dir, newest), n)
	}
}

// setAside renames the output files of an earlier attempt to its number, or to the next free one:
// stdout.1.log and stderr.1.log. If the next attempt has the same number, the earlier one was
// killed before its start was recorded, and its files become stdout.killed-1.log and
// stderr.killed-1.log. The number of the next attempt is written to attemptFile if it cannot be
// derived from the names.
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
	noted := readAttemptNumber(folder)
	suffix, n := logSuffix, newestAttempt(noted, has)
	if n >= next {
		suffix, n = killedSuffix, 1
	}
	// every attempt has stdout: renamed last, it tells what an earlier process began to rename
	for err == nil && (has("stdout"+suffix(n)) ||
		has("stderr"+suffix(n)) && has("stderr"+logSuffix(0))) {
		n++
	}
	if err == nil {
		err = rename(dir, "stderr", suffix(n))
	}
	if err == nil {
		err = rename(dir, "stdout", suffix(n))
	}
	if err != nil {
		return err
	}
	if noted != "" || newestAttempt("", has) != next {
		err = errors.Join(err, writeAttemptNumber(dir, next))
	}
	return err
}

// writeAttemptNumber writes attemptFile, replacing whatever a program put there.
func writeAttemptNumber(dir string, number int) error {
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

// createOutput creates the file of a stream. Whatever has its name is removed, including a link: a
// program may have put it there, and the worker may be able to write where the program may not. It
// avoids os.OpenFile, which would take six system calls per task instead of one.
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

// continueOutput opens the file of a stream for appending. It creates the file if there is none or
// if it is no longer a regular file.
func continueOutput(path string) (*os.File, error) {
	// a pipe that nobody reads would wait
	f, err := openOutput(path, unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK)
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
	fd, err := openFD(unix.AT_FDCWD, path, unix.O_WRONLY|flags, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// logFile returns the path of a stream of the newest attempt.
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
