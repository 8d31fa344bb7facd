package worker

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attemptFile is the file in a task's folder that has the number of its newest attempt, where that is not the first number
// which no output file of the folder has: earlier attempts of the task ran elsewhere, or were given back.
const attemptFile = ".attempt"

// LogFile is the path of the file in a task's folder that has what an attempt printed: stream is "stdout" or "stderr", attempt
// its number, or 0 for the newest. It need not be there.
func LogFile(folder, stream string, attempt int) string {
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

// logNameIn is logName in a folder that is open.
func logNameIn(folder int, stream string, attempt int) string {
	return logName(stream, attempt, notedAttempt(folder), func(name string) bool {
		var s unix.Stat_t
		return unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil
	})
}

// notedAttempt is what attemptFile says; "" without one.
func notedAttempt(folder int) string {
	fd, err := openAt(folder, attemptFile, unix.O_NONBLOCK)
	if err != nil {
		return ""
	}
	file := os.NewFile(uintptr(fd), attemptFile)
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 20)) // without it the names of the files tell
	return string(text)
}

// logName is the name of an attempt's file. The newest attempt's files have no number, those of earlier attempts have theirs.
// Has tells whether a name is in the folder, and is asked about stdout, which every attempt has.
func logName(stream string, attempt int, noted string, has func(name string) bool) string {
	if attempt == newestAttempt(noted, has) {
		attempt = 0
	}
	return stream + logSuffix(attempt)
}

// newestAttempt is the number of the attempt whose output files have none.
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

// logSuffix is how the names of output files end, of the newest attempt (0) or an earlier one.
func logSuffix(n int) string {
	if n == 0 {
		return ".log"
	}
	return "." + strconv.Itoa(n) + ".log"
}

// killedSuffix returns how the names of output files end whose attempt was killed before its start
// was recorded.
func killedSuffix(n int) string { return ".killed-" + strconv.Itoa(n) + ".log" }
