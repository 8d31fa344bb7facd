package folder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"weak"
)

// Options configure a Store. Home and Revision are required.
type Options struct {
	// Home is a folder in which copies are made, an absolute path on the file system of the
	// outputs, used by one store only.
	Home string
	// Revision returns the snapshot of a revision, an absolute path.
	Revision func(revision string) (string, error)
	// Rebuild restores a snapshot that was modified; nil: not supported.
	Rebuild func(ctx context.Context, revision string) error
	// Log receives problems that are not errors of an attempt; nil discards them.
	Log *slog.Logger
}

// Store contains the projects that attempts get copies of.
type Store struct {
	o Options

	prepareMu sync.Mutex // held while a project is prepared

	// never held during file operations
	mu        sync.Mutex
	projects  map[string]*Project  // by revision and rules
	snapshots map[string]*snapshot // by revision
	// those that may still be in use although they are not in snapshots, by revision
	evicted    map[string]weak.Pointer[snapshot]
	places     []*place // unused ones
	placesMade int
}

// NewStore returns a store. Call Recover before its first use, and Close after the last.
func NewStore(o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{o: o, projects: map[string]*Project{}, snapshots: map[string]*snapshot{},
		evicted: map[string]weak.Pointer[snapshot]{}}
}

// Project is a revision with rules. Attempts get copies of it.
type Project struct {
	store    *Store
	rules    Rules
	snapshot *snapshot
	builder  builder
}

// Project prepares a revision for attempts. It fails if the snapshot cannot be read, or if rules
// name something that does not exist on this host.
func (s *Store) Project(revision string, rules Rules) (*Project, error) {
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, err
	}
	path, err := s.o.Revision(revision)
	if err != nil {
		return nil, err
	}
	if err := checkHostLinks(rules); err != nil {
		return nil, err
	}
	key := revision + " " + string(text)
	s.prepareMu.Lock()
	defer s.prepareMu.Unlock()
	p, shot := s.prepared(key, revision)
	if p != nil {
		return p, nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	if shot == nil || shot.path != path {
		if shot, err = newSnapshot(revision, path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(s.o.Home, 0o700); err != nil {
		return nil, err
	}
	p = &Project{store: s, rules: rules, snapshot: shot}
	p.builder = builder{snapshot: path, clones: shot.clones(s.o.Home)}
	var problems []Problem
	p.builder.plan, problems = NewPlan(shot.entries(), rules, LimitsOf(p.builder.clones))
	for _, problem := range problems {
		if problem.Key == "workdir" || problem.Key == "links" || problem.Key == "file" {
			err = errors.Join(err, problem)
		}
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evict()
	s.snapshots[revision], s.projects[key] = shot, p
	return p, nil
}

// prepared returns the project of a key and the snapshot of a revision, nil if they are not
// prepared. All that use a revision have one snapshot: each learns when another one modifies it.
func (s *Store) prepared(key, revision string) (*Project, *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shot := s.snapshots[revision]; shot != nil {
		return s.projects[key], shot
	}
	return nil, s.evicted[revision].Value()
}

// remember keeps a snapshot that an attempt had, also one that was evicted, unless its revision has
// another one by now.
func (s *Store) remember(shot *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshots[shot.revision] == nil {
		s.snapshots[shot.revision] = shot
	}
}

// maxProjects limits the cached projects: a worker outlives revisions.
const maxProjects = 64

// evict makes room for one more project. Preparing one again costs little. The caller holds the
// lock.
func (s *Store) evict() {
	if len(s.projects) < maxProjects {
		return
	}
	clear(s.projects)
	maps.DeleteFunc(s.evicted, func(_ string, shot weak.Pointer[snapshot]) bool {
		return shot.Value() == nil
	})
	maps.DeleteFunc(s.snapshots, func(revision string, shot *snapshot) bool {
		s.evicted[revision] = weak.Make(shot)
		return shot.intact()
	})
}

// checkHostLinks rejects links to paths that do not exist on this host.
func checkHostLinks(r Rules) (err error) {
	for _, name := range slices.Sorted(maps.Keys(r.Links)) {
		target := r.Links[name]
		if _, none := os.Stat(target); none != nil {
			err = errors.Join(err, &MissingTarget{Name: name, Target: target, Err: none})
		}
	}
	return err
}

// IsRuleError reports whether an error of Project is caused by the rules: they name something that
// the project or the host does not have.
func IsRuleError(err error) bool {
	_, missing := errors.AsType[*MissingTarget](err)
	_, problem := errors.AsType[Problem](err)
	return missing || problem
}

// MissingTarget is the error for a path of links: that does not exist on the host.
type MissingTarget struct {
	Name, Target string
	Err          error
}

func (e *MissingTarget) Error() string {
	cause := e.Err
	if p, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = p.Err
	}
	return "links: " + e.Name + " leads to " + e.Target + ": " + cause.Error() +
		`: make it, or mount it into the containers of tasks with volumes: ["` + e.Target + ":" +
		e.Target + `:ro"] and infrainit -f`
}

// Unwrap returns the cause.
func (e *MissingTarget) Unwrap() error { return e.Err }

// Close removes the store's folder. No attempt may be in a Workspace.
func (s *Store) Close() (err error) {
	for _, p := range s.places {
		err = errors.Join(err, p.record.Close(), remove(p.record.Name()))
	}
	return errors.Join(err, remove(s.o.Home))
}

// remove is os.Remove without an error if the path does not exist, as the outputs may have been
// deleted, or is a folder with records, which stay for the next start.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}
