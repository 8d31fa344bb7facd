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
	"time"
	"weak"
)

// Options configure a Store. Home and Revision are required.
type Options struct {
	// Home is a folder for idle copies, an absolute path on the file system of the outputs, used by
	// one store only.
	Home string
	// Revision returns the snapshot of a revision, an absolute path.
	Revision func(revision string) (string, error)
	// Rebuild restores a snapshot that was modified; nil: not supported.
	Rebuild func(ctx context.Context, revision string) error
	// Idle is the maximum number of idle copies; 0 is none.
	Idle int
	// Log receives problems that are not errors of an attempt; nil discards them.
	Log *slog.Logger
}

// idleTimeout is how long an idle copy is kept.
const idleTimeout = 5 * time.Minute

// Store keeps copies of projects ready for attempts.
type Store struct {
	o Options

	prepareMu sync.Mutex // held while a project is prepared

	// never held during file operations
	mu sync.Mutex
	// copies made so far
	copies    int
	projects  map[string]*Project  // by revision and rules
	snapshots map[string]*snapshot // by revision
	// those that may still be in use although they are not in snapshots, by revision
	evicted map[string]weak.Pointer[snapshot]
	// least recently used first
	idle    []*projectCopy
	closed  bool
	watcher watcher
	// the watcher is open
	watching bool
	// file times do not distinguish successive changes
	coarseTimes bool
	// two folders can be exchanged atomically
	canExchange bool
	// minimum items of a watched copy: checking a small one costs as little
	minWatched int
	// a copy is being made ahead of time
	prefetching bool
	prefetch    sync.WaitGroup
	// of prefetching
	prefetchCtx context.Context
	stop        context.CancelFunc
}

// NewStore returns a store. Call Recover before its first use, and Close after the last.
func NewStore(o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, projects: map[string]*Project{}, snapshots: map[string]*snapshot{},
		evicted: map[string]weak.Pointer[snapshot]{}, minWatched: 50}
	s.prefetchCtx, s.stop = context.WithCancel(context.Background())
	return s
}

// Project is a revision with rules. Attempts get copies of it.
type Project struct {
	store    *Store
	key      string
	revision string
	rules    Rules
	snapshot *snapshot
	builder  builder
	// the part of its copies' records after the folder
	recordTail []byte
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
	if !s.watching {
		s.watcher.open(s.o.Home)
		s.watching, s.coarseTimes, s.canExchange = true, s.coarseTimes ||
			!hasExactTimes(s.o.Home), supportsExchange(s.o.Home)
	}
	use, err := recordTailOf(revision, rules)
	if err != nil {
		return nil, err
	}
	p = &Project{store: s, key: key, revision: revision, rules: rules, snapshot: shot,
		recordTail: use}
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

// acquire returns a complete copy of a generation of the snapshot: an idle one, or a new one.
func (p *Project) acquire(generation int) (*projectCopy, error) {
	p.store.mu.Lock()
	t := p.store.takeIdle(p, generation)
	p.store.mu.Unlock()
	return p.complete(context.Background(), t, generation)
}

// complete completes t, or makes a new copy if t is nil.
func (p *Project) complete(ctx context.Context, t *projectCopy, generation int) (*projectCopy,
	error) {
	if t == nil {
		var err error
		if t, err = p.newCopy(); err != nil {
			return nil, err
		}
		t.generation = generation
		if err := t.mkdir(); err != nil {
			return nil, errors.Join(err, t.discard())
		}
	}
	if err := t.complete(ctx); err != nil {
		return nil, errors.Join(err, t.discard())
	}
	// the first attempt may be the only one
	if !t.used.IsZero() && len(t.ids) >= p.store.minWatched {
		p.store.watcher.watch(t, t.path)
	}
	return t, nil
}

// takeIdle removes and returns an idle copy of a project, preferably a complete one. It skips
// copies of other generations: what was copied while the snapshot was being modified is unknown.
// The caller holds the lock.
func (s *Store) takeIdle(p *Project, generation int) (t *projectCopy) {
	found := -1
	for i, kept := range s.idle {
		if kept.project == p && kept.generation == generation && (found < 0 || !kept.incomplete) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	t = s.idle[found]
	s.idle = append(s.idle[:found], s.idle[found+1:]...)
	return t
}

// addIdle adds an idle copy, and removes those over the limit.
func (s *Store) addIdle(t *projectCopy) {
	s.mu.Lock()
	t.used = time.Now()
	s.idle = append(s.idle, t)
	n := max(0, len(s.idle)-s.o.Idle)
	if s.closed {
		n = len(s.idle)
	}
	gone := s.idle[:n:n]
	s.idle = s.idle[n:]
	s.mu.Unlock()
	if err := discard(gone); err != nil { // not of the one that is kept
		s.o.Log.Warn("cannot remove idle copies of projects", "error", err)
	}
}

// Run removes copies that have been idle for too long, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	for tick := time.NewTicker(idleTimeout / 5); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			if err := s.expire(now.Add(-idleTimeout)); err != nil {
				s.o.Log.Warn("cannot remove idle copies of projects", "error", err)
			}
		}
	}
}

// expire removes the copies that have not been used since then.
func (s *Store) expire(then time.Time) error {
	s.mu.Lock()
	n := 0
	for n < len(s.idle) && s.idle[n].used.Before(then) {
		n++
	}
	gone := s.idle[:n:n]
	s.idle = s.idle[n:]
	s.mu.Unlock()
	return discard(gone)
}

// Close removes all idle copies. Copies in use are removed when their attempts leave.
func (s *Store) Close() error {
	s.stop()
	s.mu.Lock()
	gone := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	s.prefetch.Wait()
	s.watcher.close() // first: the end of each watch would be a call of its own
	err := discard(gone)
	if none := os.Remove(s.o.Home); !errors.Is(none, fs.ErrNotExist) {
		err = errors.Join(err, none)
	}
	return err
}
