package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"mlframework/sweep/task"
)

// logReader is an output file and the offset at which a reader continues.
type logReader struct {
	*os.File
	inode        uint64
	size, offset int64
}

// openLog opens the output file that a control message asks for: the one with inode reached, if its
// reader had got that far, or the one that follows it; with reached 0 that of an attempt. Programs
// may have put anything into their folders: links below the folder of outputs are not followed, and
// pipes are not waited for.
func openLog(outputs string, c task.Control, reached uint64) (l logReader, err error) {
	if err := checkName(c.Sweep); err != nil {
		return l, err
	}
	if c.Index < 0 || c.Attempt < 0 {
		return l, fmt.Errorf("there is no attempt %d of task %d", c.Attempt, c.Index)
	}
	index := filepath.Base(attemptFolder(filepath.Join(outputs, c.Sweep,
		strconv.FormatInt(c.Index, 10)), c.Attempt))
	for range 10 {
		folder, err := openFolder(outputs, c.Sweep, index)
		if err != nil {
			return l, err
		}
		l, err = openLogIn(folder, c, reached)
		is := isFolder(folder, outputs, c.Sweep, index)
		unix.Close(folder)
		if is {
			return l, err
		}
		if err == nil {
			_ = l.Close()
		}
	}
	return logReader{}, fmt.Errorf("the folder of task %d of %s keeps being replaced",
		c.Index, c.Sweep)
}

// openLogIn returns openLog in the task's folder.
func openLogIn(folder int, c task.Control, reached uint64) (l logReader, err error) {
	stream := "stdout"
	if c.Read.Stderr {
		stream = "stderr"
	}
	if reached != 0 {
		return openContinued(folder, stream, reached, c.Read.Offset)
	}
	return openNamed(folder, logNameIn(folder, stream, c.Attempt), c.Read.Offset)
}

// openContinued opens the file of a stream by its inode, whatever its current name. If that file is
// read to its end, or is gone, it opens the next one from the beginning.
func openContinued(folder int, stream string, inode uint64, offset int64) (logReader, error) {
	numbers, err := earlierAttempts(folder, stream)
	if err != nil {
		return logReader{}, err
	}
	var end logReader                      // of what was reached
	for _, n := range append(numbers, 0) { // the newest is the last
		l, err := openNamed(folder, stream+logSuffix(n), 0)
		switch {
		case err != nil && end.File != nil:
			return end, nil
		case err != nil && n > 0:
			continue
		case err != nil || end.File == nil && n == 0 && l.inode != inode:
			return l, err
		case end.File != nil:
			return l, end.Close()
		case l.inode != inode:
			_ = l.Close()
			continue
		}
		if l.offset = offset; offset < l.size || n == 0 {
			return l, nil
		}
		end = l
	}
	return end, nil
}

// earlierAttempts returns the numbers of all attempts but the newest that have a file of a stream,
// in order.
func earlierAttempts(folder int, stream string) (numbers []int, err error) {
	names, err := namesIn(folder)
	for _, name := range names {
		if l, ok := parseLogName(name, stream); ok && !l.killed {
			numbers = append(numbers, l.number)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// openNamed opens an output file by name.
func openNamed(folder int, name string, offset int64) (l logReader, err error) {
	fd, err := openAt(folder, name, unix.O_NONBLOCK)
	if err != nil {
		return l, err
	}
	l.File, l.offset = os.NewFile(uintptr(fd), name), offset
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return l, errors.Join(err, l.Close())
	}
	if s.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errors.New("the output of the task is no longer a file: something took its place")
		return l, errors.Join(err, l.Close())
	}
	l.inode, l.size = s.Ino, s.Size
	return l, nil
}
