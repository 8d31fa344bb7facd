package local

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// LogFile is the log of the runners of the current folder.
var LogFile = filepath.Join(StoreFolder, "runner.log")

// maxLog is the size from which on a log is begun anew.
const maxLog = 1 << 20

// openLog opens the log for a new runner.
func openLog() (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(LogFile); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(LogFile, flags, 0o600)
}

// runs reports whether a process of a runner of this folder lives: both have the log open, with the
// lock that startRunner put on it.
func runs() bool {
	log, err := os.Open(LogFile)
	if err != nil {
		return false
	}
	defer log.Close()
	return syscall.Flock(int(log.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}

// stamp writes each record of a log with its time.
type stamp struct{ w io.Writer }

func (s stamp) Write(p []byte) (int, error) {
	if _, err := fmt.Fprintf(s.w, "%s %s", time.Now().Format(time.DateTime), p); err != nil {
		return 0, err
	}
	return len(p), nil
}
