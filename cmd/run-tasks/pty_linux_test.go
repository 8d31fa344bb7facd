package main_test

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: the program has one end, the test the other.
type terminal struct {
	tty  *os.File
	ptmx *os.File
	seen *buffer
	done chan struct{}
}

func openTerminal(t *testing.T, columns uint16) *terminal {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here, the display is not tested: %v", err)
	}
	var number int
	raw, err := ptmx.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		if number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	})
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{tty, ptmx, &buffer{}, make(chan struct{})}
	go func() {
		defer close(term.done)
		_, _ = io.Copy(term.seen, ptmx) // it ends with EIO when the other end is closed
	}()
	t.Cleanup(func() { _ = ptmx.Close() })
	return term
}

// press types a key.
func (term *terminal) press(t *testing.T, key string) {
	t.Helper()
	if _, err := term.ptmx.WriteString(key); err != nil {
		t.Fatal(err)
	}
}

// text is everything that was written, once the program has ended.
func (term *terminal) text() string {
	_ = term.tty.Close()
	<-term.done
	return term.seen.String()
}
