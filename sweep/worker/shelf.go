package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"mlframework/sweep/secret"
)

// memoryFolder is a file system in memory that everybody may write to, on Linux and in containers (shm_overview(7)).
const memoryFolder = "/dev/shm"

// shelf is where attempts find their secrets as files: a folder of this process in memory, with a folder for each attempt.
// Where there is no memory to be had as a folder, it is below the one for temporary files.
type shelf struct {
	prefix string
	bases  []string // where the folder may be, the best first

	mu     sync.Mutex
	folder string // "": not made yet
}

func (s *shelf) init(o Options) {
	s.prefix, s.bases = shelfPrefix(o.Name, o.Outputs), shelves(o.SecretsFolder)
}

// shelfPrefix begins the names of the folders of all processes of one worker, and of no other.
func shelfPrefix(name, outputs string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + outputs))
	return "mlframework-" + hex.EncodeToString(sum[:8]) + "-"
}

// lay writes values as files, mode 0600, into a folder of their own, mode 0700.
func (s *shelf) lay(values secret.Values) (dir string, err error) {
	folder, err := s.open()
	if err == nil {
		dir, err = os.MkdirTemp(folder, "attempt-*")
	}
	for name, value := range values {
		if err == nil {
			err = checkName(name)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600)
		}
	}
	if err != nil {
		s.clear(dir)
	}
	return dir, err
}

// clear removes the folder of an attempt.
func (s *shelf) clear(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir) // what stays goes with the process's folder
	}
}

// open makes the folder of this process.
func (s *shelf) open() (folder string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != "" {
		return s.folder, nil
	}
	for _, base := range s.bases {
		if folder, err = os.MkdirTemp(base, s.prefix+"*"); err == nil {
			s.folder = folder
			return folder, nil
		}
	}
	return "", err
}

// close removes everything.
func (s *shelf) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder == "" {
		return nil
	}
	err := os.RemoveAll(s.folder)
	s.folder = ""
	return err
}

// shelves are where the folder may be, the best first: in the one that was named, or where there is memory.
func shelves(named string) []string {
	if named != "" {
		return []string{named}
	}
	return []string{memoryFolder, os.TempDir()}
}

// clearShelves removes what processes of a worker left that were killed. Only folders of this user are touched: anybody may
// make one there.
func clearShelves(name, outputs, named string) error {
	var errs []error
	for _, base := range shelves(named) {
		entries, err := os.ReadDir(base)
		if err != nil {
			continue // then none is there
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), shelfPrefix(name, outputs)) || !e.IsDir() {
				continue
			}
			if info, err := e.Info(); err == nil && mine(info) {
				errs = append(errs, os.RemoveAll(filepath.Join(base, e.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

func mine(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
