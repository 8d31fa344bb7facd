package worker

import "strconv"

// LogName is the name of the file that has what an attempt printed: stream is "stdout" or "stderr", attempt its number,
// or 0 for the newest. The newest attempt's files have no number, those of earlier attempts have theirs; has tells whether
// a name is in the task's folder, and is asked about stdout, which every attempt has.
func LogName(stream string, attempt int, has func(name string) bool) string {
	set := func(n int) bool { return has("stdout" + logSuffix(n)) }
	followsLast := attempt == 1 || attempt > 1 && set(attempt-1)
	if followsLast && !set(attempt) {
		attempt = 0
	}
	return stream + logSuffix(attempt)
}

// logSuffix is how the names of output files end, of the newest attempt (0) or an earlier one.
func logSuffix(n int) string {
	if n == 0 {
		return ".log"
	}
	return "." + strconv.Itoa(n) + ".log"
}
