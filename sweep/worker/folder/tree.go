package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// tree is a copy that no attempt uses, or that one has in its folder.
type tree struct {
	project *Project
	made    int    // the generation of the snapshot of which it is a copy
	path    string // where it lies while no attempt uses it
	inode   uint64 // of the folder path, where that is known
	record  *record
	ids     []identity // of the plan's items
	have    []bool     // which of them are there
	stale   []int      // folders whose identity is to be asked for
	missing bool       // not all items are there
	used    time.Time
	looked  time.Time // when every file of it was looked at

	// Of the store's watcher, under its lock.
	watches   []int32 // of the plan's items: numbers of their watches, 0 for none
	unwatched []int   // folders that are not watched: something was touched in them, or they are new
	watching  bool    // every folder was watched at the time when the attempt began, and nothing that was told was lost
}

// blank is a copy of which nothing is there yet.
func (p *Project) blank() (*tree, error) {
	s := p.store
	s.mu.Lock()
	s.made++
	path := filepath.Join(s.o.Home, strconv.Itoa(s.made))
	s.mu.Unlock()
	r, err := newRecord(path + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed it
		if err = os.MkdirAll(s.o.Home, 0o700); err == nil {
			r, err = newRecord(path + recordSuffix)
		}
	}
	if err != nil {
		return nil, err
	}
	n := len(p.maker.plan.items)
	return &tree{project: p, path: path, record: r, ids: make([]identity, n), have: make([]bool, n), missing: true, looked: time.Now()}, nil
}

// homeMode is the mode of the folder that holds a copy: it is for the attempt alone, as everything that it makes.
const homeMode = 0o700

// makeHome makes the folder that holds the copy.
func (t *tree) makeHome() error { return os.Mkdir(t.path, homeMode) }

// exchanges reports whether folders in a folder can change places.
func exchanges(home string) bool {
	a, b := filepath.Join(home, "probe-a"), filepath.Join(home, "probe-b")
	err := errors.Join(os.Mkdir(a, homeMode), os.Mkdir(b, homeMode))
	if err == nil {
		err = exchange(a, b)
	}
	return errors.Join(err, os.Remove(a), os.Remove(b)) == nil
}

// complete makes what is missing.
func (t *tree) complete(ctx context.Context) error { return t.completeAt(ctx, t.path) }

func (t *tree) completeAt(ctx context.Context, base string) error {
	m := &t.project.maker
	if t.missing {
		var items []int
		touched := map[int]bool{}
		for i := range t.have {
			if !t.have[i] {
				items = append(items, i)
				touched[m.plan.items[i].in] = true
				if m.plan.items[i].how == makeDir {
					touched[i] = true
				}
			}
		}
		if err := m.makeAll(ctx, items, base, t.ids); err != nil {
			return err
		}
		for _, i := range items {
			t.have[i] = true
		}
		for i := range touched {
			if i >= 0 {
				t.stale = append(t.stale, i)
			}
		}
	}
	for _, i := range t.stale {
		id, err := lstat(base + "/" + m.plan.items[i].Path)
		if err != nil {
			return err
		}
		t.ids[i] = id
	}
	t.stale, t.missing = t.stale[:0], false
	return nil
}

func discard(trees []*tree) (err error) {
	for _, t := range trees {
		err = errors.Join(err, t.discard())
	}
	return err
}

// discard removes a copy from the disk.
func (t *tree) discard() error {
	t.project.store.watcher.forget(t)
	return errors.Join(t.removeFolders(), removeAll(t.path), t.record.remove())
}

// removeFolders removes the folders of a large copy, several at a time. What it leaves removeAll removes.
func (t *tree) removeFolders() error {
	entries, err := os.ReadDir(t.path)
	if err != nil || len(t.ids) < t.project.store.fewest {
		return nil
	}
	next := make(chan string, len(entries))
	for _, e := range entries {
		if e.IsDir() {
			next <- filepath.Join(t.path, e.Name())
		}
	}
	close(next)
	var all sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), 4))
	for i := range errs {
		all.Go(func() {
			for folder := range next {
				errs[i] = errors.Join(errs[i], removeAll(folder))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
