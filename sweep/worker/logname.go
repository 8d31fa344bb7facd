package worker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attemptFile is the file in a task's folder with the number of its newest attempt. It exists if
// that number is not the first one without an output file, because earlier attempts ran elsewhere
// or were returned.
const attemptFile = ".attempt"

// LogFile returns the path of an attempt's output in a task's folder: stream is "stdout" or
// "stderr", attempt its number, or 0 for the newest. The file may not exist.
func LogFile(folder, stream string, attempt int) string {
	folder = attemptFolder(folder, attempt)
	name := stream + logSuffix(attempt)
	for range 10 {
		fd, err := openFolder(folder)
		if err != nil {
			break
		}
		name = logNameIn(fd, stream, attempt)
		is := isFolder(fd, folder)
		unix.Close(fd)
		if is {
			break
		}
	}
	return filepath.Join(folder, name)
}

// keptFolder returns the path to which a task's folder is renamed when another attempt starts in a
// new one. Attempt is the newest that ran in the folder.
func keptFolder(folder string, attempt int) string {
	return fmt.Sprintf("%s.attempt-%d", folder, attempt)
}

// attemptFolder returns the folder in which an attempt of a task ran: the task's own folder, or one
// that is kept beside it. For attempt 0 it is the task's own.
func attemptFolder(folder string, attempt int) string {
	newest := attempt
	if fd, err := openFolder(folder); err == nil {
		newest = newestIn(fd)
		unix.Close(fd)
	} else if errors.Is(err, fs.ErrNotExist) && attempt > 0 { // no later attempt could start
		newest += maxKept
	}
	for n := attempt; n > 0 && n < min(newest, attempt+maxKept); n++ {
		if is, _ := exists(keptFolder(folder, n)); is {
			return keptFolder(folder, n)
		}
	}
	return folder
}

// maxKept is the maximum number of attempts for which a kept folder is searched.
const maxKept = 1000

// newestIn returns the number of the newest attempt in a task's folder.
func newestIn(folder int) int {
	return newestAttempt(readAttemptNumber(folder), func(name string) bool {
		return hasName(folder, name)
	})
}

func hasName(folder int, name string) bool {
	var s unix.Stat_t
	return unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// logNameIn returns logName in a folder that is open.
func logNameIn(folder int, stream string, attempt int) string {
	return logName(stream, attempt, readAttemptNumber(folder), func(name string) bool {
		return hasName(folder, name)
	})
}

// readAttemptNumber returns the content of attemptFile; "" if there is none.
func readAttemptNumber(folder int) string {
	fd, err := openAt(folder, attemptFile, unix.O_NONBLOCK)
	if err != nil {
		return ""
	}
	file := os.NewFile(uintptr(fd), attemptFile)
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 20)) // without it the names of the files tell
	return string(text)
}

// logName returns the name of an attempt's output file. Files of the newest attempt carry no
// number, those of earlier attempts carry theirs. has reports whether a name is in the folder; it
// is called for stdout, which every attempt has.
func logName(stream string, attempt int, noted string, has func(name string) bool) string {
	if attempt == newestAttempt(noted, has) {
		attempt = 0
	}
	return stream + logSuffix(attempt)
}

// newestAttempt returns the number of the attempt whose output files carry none.
func newestAttempt(noted string, has func(name string) bool) int {
	if n, err := strconv.Atoi(strings.TrimSpace(noted)); err == nil && n > 0 {
		return n
	}
	n := 1
	for has("stdout" + logSuffix(n)) {
		n++
	}
	return n
}

// logSuffix returns the suffix of the output files of an attempt; 0 is the newest.
func logSuffix(n int) string {
	if n == 0 {
		return ".log"
	}
	return "." + strconv.Itoa(n) + ".log"
}

// killedSuffix returns how the names of output files end whose attempt was killed before its start
// was recorded.
func killedSuffix(n int) string { return ".killed-" + strconv.Itoa(n) + ".log" }
