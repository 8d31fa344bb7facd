package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// known is what the known_hosts files say.
type known struct {
	stamp string // of the files as they were
	db    *knownhosts.HostKeyDB
	names map[string]string // of copies that the library read: the file that each is of
}

// where is FILE:LINE of an entry.
func (k *known) where(key xknownhosts.KnownKey) string {
	return first(k.names[key.Filename], key.Filename) + ":" + strconv.Itoa(key.Line)
}

// readKnown reads the files that exist, again only when one has changed. The library refuses a file
// for one bad line; then it reads a copy without such lines.
func (d *Dialer) readKnown(files []string) (*known, error) {
	var there []string
	var state strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if missing(err) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		there = append(there, file)
		fmt.Fprintln(&state, file, info.Size(), info.ModTime())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	which, stamp := strings.Join(files, "\n"), state.String()
	if k := d.known[which]; k != nil && k.stamp == stamp {
		return k, nil
	}
	k := &known{stamp: stamp, names: map[string]string{}}
	var err error
	if k.db, err = knownhosts.NewDB(there...); err != nil {
		err = k.readCopies(there, d.warnLocked)
	}
	if err == nil {
		d.known[which] = k
	}
	return k, err
}

func (k *known) readCopies(files []string, warn func(host, text string)) error {
	dir, err := os.MkdirTemp("", "known_hosts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var copies []string
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			warn("", fmt.Sprintf("%s is not used: %s", file, plain(err)))
			continue
		}
		to := filepath.Join(dir, strconv.Itoa(i))
		lines := strings.SplitAfter(string(text), "\n")
		for n, line := range lines {
			if err := usable(dir, line); err != nil {
				warn("", fmt.Sprintf("%s:%d is no entry, and not used: %s", file, n+1,
					clip(plain(err))))
				lines[n] = "\n"
			}
		}
		if err := os.WriteFile(to, []byte(strings.Join(lines, "")), 0o600); err != nil {
			return err
		}
		copies, k.names[to] = append(copies, to), file
	}
	k.db, err = knownhosts.NewDB(copies...)
	return err
}

// usable tells whether the library takes a line.
func usable(dir, line string) error {
	file := filepath.Join(dir, "line")
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		return err
	}
	_, err := knownhosts.NewDB(file)
	if err == nil {
		return nil
	}
	_, what, found := strings.Cut(err.Error(), file+":1: ")
	if !found {
		return err
	}
	return errors.New(what)
}

// lockPatience is how long addKnown waits for who else writes the file.
const lockPatience = 5 * time.Second

// addKnown appends a host to a known_hosts file unless check, called under the file's lock, finds
// that it has the host by now. Its errors are those of check, except for HostUnknown, and of the
// file. A new file has mode 0600, its new folder 0700.
func addKnown(file, addr string, key ssh.PublicKey, check func() error) (added bool, err error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return false, nil // /dev/null: the user wants nothing noted
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return false, err
	}
	f, err := lockFile(file)
	if err != nil {
		return false, err
	}
	defer f.Close() // and with it the lock
	var m *mismatch
	if err := check(); !errors.As(err, &m) || m.kind != HostUnknown {
		return false, err
	}
	line := knownhosts.Line([]string{addr}, key) + "\n"
	if !endsLine(f) {
		line = "\n" + line
	}
	_, err = io.WriteString(f, line)
	return err == nil, err
}

// lockFile opens a file to append to it, and locks it. It is still the file of that name then:
// ssh-keygen -R puts another there.
func lockFile(file string) (*os.File, error) {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil && stillThere(f, file):
			return f, nil
		case err == nil || errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR):
			f.Close()
		default: // a file system without locks
			return f, nil
		}
		if time.Now().After(deadline) {
			return nil, &fs.PathError{Op: "lock", Path: file,
				Err: errors.New("another process holds it")}
		}
	}
}

func stillThere(f *os.File, file string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(file)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// endsLine tells whether what is appended to a file begins a line.
func endsLine(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] == '\n'
}
