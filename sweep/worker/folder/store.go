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
)

// Options of a Store. Home is needed.
type Options struct {
	// Home is a folder for copies that no attempt uses, an absolute path on the file system of the
	// outputs, for one store alone.
	Home string
	// Revision finds the snapshot of a revision, an absolute path.
	Revision func(revision string) (string, error)
	// Rebuild makes a snapshot anew that was written to; nil: it cannot be made.
	Rebuild func(ctx context.Context, revision string) error
	// Idle is how many copies are kept that no attempt uses, at most; 0 is none.
	Idle int
	// Log gets what is no error of an attempt; nil: nowhere.
	Log *slog.Logger
}

// idleTimeout is how long a copy is kept that no attempt uses.
const idleTimeout = 5 * time.Minute

// Store keeps copies of projects ready for attempts.
type Store struct {
	o Options

	prepareMu sync.Mutex // held while a project is prepared

	mu          sync.Mutex           // held for no work on files
	copies      int                  // copies so far
	projects    map[string]*Project  // by revision and rules
	snapshots   map[string]*snapshot // by revision
	idle        []*workCopy          // the one that was used last at the end
	closed      bool
	watcher     watcher
	watching    bool // the watcher is open
	coarseTimes bool // times of files do not tell any two changes apart
	canExchange bool // two folders can change places
	// items of a copy that is watched: of a small one looking at all of it costs as little
	minWatched  int
	prefetching bool // a copy is made ahead
	prefetch    sync.WaitGroup
	prefetchCtx context.Context // of what is made ahead
	stop        context.CancelFunc
}

// NewStore makes a store. Recover is to be called before its first use, and Close after the last.
func NewStore(o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, projects: map[string]*Project{}, snapshots: map[string]*snapshot{},
		minWatched: 50}
	s.prefetchCtx, s.stop = context.WithCancel(context.Background())
	return s
}

// Project is a revision with rules, of which attempts get copies.
type Project struct {
	store      *Store
	key        string
	revision   string
	rules      Rules
	snapshot   *snapshot
	builder    builder
	recordTail []byte // what records of its copies say behind the folder
}

// Project prepares a revision for attempts. Errors are those of its snapshot, and rules that lead
// nowhere on this host.
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
	p.builder.plan, problems = New(shot.entries(), rules, LimitsOf(p.builder.clones))
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

// prepared is the project of a key and the snapshot of a revision that were prepared, nil where
// they were not.
func (s *Store) prepared(key, revision string) (*Project, *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.projects[key], s.snapshots[revision]
}

// maxProjects bounds what is remembered: a worker lives longer than the revisions that it sees.
const maxProjects = 64

// evict makes room for one more project. Preparing one again costs little. The caller holds the
// lock.
func (s *Store) evict() {
	if len(s.projects) < maxProjects {
		return
	}
	clear(s.projects)
	maps.DeleteFunc(s.snapshots, func(_ string, shot *snapshot) bool { return shot.intact() })
}

// checkHostLinks refuses links to paths that are not on this host.
func checkHostLinks(r Rules) (err error) {
	for _, name := range slices.Sorted(maps.Keys(r.Links)) {
		target := r.Links[name]
		if _, none := os.Stat(target); none != nil {
			err = errors.Join(err, &MissingTarget{Name: name, Target: target, Err: none})
		}
	}
	return err
}

// IsRuleError reports whether an error of Project is one of the rules: the project or the host has
// not what they name.
func IsRuleError(err error) bool {
	_, missing := errors.AsType[*MissingTarget](err)
	_, problem := errors.AsType[Problem](err)
	return missing || problem
}

// MissingTarget is a path of links: that is not on the host.
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

// Unwrap gives the cause.
func (e *MissingTarget) Unwrap() error { return e.Err }

// acquire gives a whole copy of a generation of the snapshot: one that is kept, or a new one.
func (p *Project) acquire(generation int) (*workCopy, error) {
	p.store.mu.Lock()
	t := p.store.takeIdle(p, generation)
	p.store.mu.Unlock()
	return p.complete(context.Background(), t, generation)
}

// complete makes what is missing of a copy, or of a new one.
func (p *Project) complete(ctx context.Context, t *workCopy, generation int) (*workCopy, error) {
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

// takeIdle takes a copy of a project out of those that are kept, a whole one if there is one. Of
// one that was made before the snapshot was found changed nobody knows what was copied. The caller
// holds the lock.
func (s *Store) takeIdle(p *Project, generation int) (t *workCopy) {
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

// addIdle puts a copy to those that are kept, and removes the ones that are too many.
func (s *Store) addIdle(t *workCopy) {
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
		s.o.Log.Warn("copies of projects that nobody needs are left", "error", err)
	}
}

// Run removes copies that nobody needs any more, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	for tick := time.NewTicker(idleTimeout / 5); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case now := <-tick.C:
			if err := s.expire(now.Add(-idleTimeout)); err != nil {
				s.o.Log.Warn("copies of projects that nobody needs are left", "error", err)
			}
		}
	}
}

// expire removes the copies that were not used since then.
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

// Close removes all copies. What attempts still have goes when they leave.
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
