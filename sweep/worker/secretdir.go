package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"mlframework/sweep/secret"
)

// memoryFolder is a world-writable file system in memory, on Linux and in containers
// (shm_overview(7)).
const memoryFolder = "/dev/shm"

// secretDir is where attempts find their secrets as files: a folder of this process in memory, with
// a subfolder for each attempt. Where no file system in memory exists, it is below the folder for
// temporary files.
type secretDir struct {
	prefix string
	// candidates for the parent folder, in order of preference
	bases []string

	mu  sync.Mutex
	dir string // "": not made yet
}

func (s *secretDir) init(o Options) {
	s.prefix, s.bases = secretDirPrefix(o.Name, o.Outputs), secretDirCandidates(o.SecretsFolder)
}

// secretDirPrefix returns the prefix of the folders of all processes of one worker, and of no
// other.
func secretDirPrefix(name, outputs string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + outputs))
	return "mlframework-" + hex.EncodeToString(sum[:8]) + "-"
}

// create writes secrets as files, mode 0600, to a new folder, mode 0700. From then on, programs that
// this process starts cannot write core files, which would contain the values.
func (s *secretDir) create(values secret.Values) (dir string, err error) {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return "", err
	}
	dir, err = s.newFolder()
	if errors.Is(err, fs.ErrNotExist) { // somebody removed it; systemd-logind does at a logout
		s.forget()
		dir, err = s.newFolder()
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
		s.remove(dir)
	}
	return dir, err
}

// newFolder creates the folder of an attempt.
func (s *secretDir) newFolder() (string, error) {
	folder, err := s.root()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(folder, "attempt-*")
}

// forget forgets the folder of this process if it is gone.
func (s *secretDir) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Lstat(s.dir); errors.Is(err, fs.ErrNotExist) {
		s.dir = ""
	}
}

// remove removes the folder of an attempt.
func (s *secretDir) remove(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir) // what stays goes with the process's folder
	}
}

// root returns the folder of this process, which it creates if needed.
func (s *secretDir) root() (folder string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		return s.dir, nil
	}
	for _, base := range s.bases {
		if folder, err = os.MkdirTemp(base, s.prefix+"*"); err == nil {
			s.dir = folder
			return folder, nil
		}
	}
	return "", err
}

// close removes everything.
func (s *secretDir) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	err := os.RemoveAll(s.dir)
	s.dir = ""
	return err
}

// secretDirCandidates returns where the folder may be, in order of preference: the configured one
// only, or memory first.
func secretDirCandidates(named string) []string {
	if named != "" {
		return []string{named}
	}
	return []string{memoryFolder, os.TempDir()}
}

// removeSecretDirs removes what killed processes of a worker left behind. It touches folders of
// this user only: anyone can create folders there.
func removeSecretDirs(name, outputs, named string) error {
	var errs []error
	for _, base := range secretDirCandidates(named) {
		entries, err := os.ReadDir(base)
		if err != nil {
			continue // then none is there
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), secretDirPrefix(name, outputs)) || !e.IsDir() {
				continue
			}
			if info, err := e.Info(); err == nil && ownedByUser(info) {
				errs = append(errs, os.RemoveAll(filepath.Join(base, e.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

func ownedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
