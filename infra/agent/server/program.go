package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// Programs in the cache that no agent ran for so long are removed; the agent notes that it runs
// once a day.
const (
	unused = 30 * 24 * time.Hour
	noted  = 24 * time.Hour
)

// cached is what the bootstrap script leaves in the cache: programs, and parts of them.
var cached = regexp.MustCompile(`^(` + regexp.QuoteMeta(layout.CachedPrefix) + `[0-9a-f]{64}|` +
	regexp.QuoteMeta(layout.CachedPart) + `[0-9A-Za-z]+)$`)

// sweep notes that a program runs, and removes others beside it that are out of use. What it cannot
// do the next one does.
func sweep(program string) {
	info, err := os.Stat(program)
	now := time.Now()
	if err != nil || now.Sub(info.ModTime()) < noted {
		return
	}
	_ = os.Chtimes(program, now, now)
	items, _ := os.ReadDir(filepath.Dir(program))
	for _, item := range items {
		info, err := item.Info()
		if err == nil && info.Mode().IsRegular() && cached.MatchString(item.Name()) &&
			now.Sub(info.ModTime()) > unused {
			_ = os.Remove(filepath.Join(filepath.Dir(program), item.Name()))
		}
	}
}

// copyProgram copies the program in one step, so that there is never a part of it under its name.
// Containers run the copy: the cache may be emptied while they do.
func (s *server) copyProgram(_ context.Context, p agent.ProgramCopy) error {
	root, err := openRoot(p.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := below(p.Root, p.To)
	if err != nil {
		return err
	}
	from, err := os.Open(s.o.Program)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	// Containers may have another uid, whatever the umask is.
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if err := root.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	part := filepath.Join(filepath.Dir(name), ".part."+rand.Text())
	to, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Chmod(0o755), to.Close())
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", s.o.Program, err),
			ignoreMissing(root.Remove(part)))
	}
	return nil
}

// removeProgram removes the program from the cache, with the folders that were made for it and are
// empty.
func (s *server) removeProgram(w http.ResponseWriter, _ *http.Request) {
	if err := os.Remove(s.o.Program); err != nil && !errors.Is(err, os.ErrNotExist) {
		fail(w, err)
		return
	}
	dir := filepath.Dir(s.o.Program)
	for range s.o.Made {
		if os.Remove(dir) != nil { // somebody else uses it
			break
		}
		dir = filepath.Dir(dir)
	}
	w.WriteHeader(http.StatusNoContent)
}
