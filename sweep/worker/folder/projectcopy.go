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

// projectCopy is a copy of a project, idle or in the folder of an attempt.
type projectCopy struct {
	project *Project
	// of the snapshot of which it is a copy
	generation int
	// where it is while idle
	path string
	// of the folder path, if known
	inode  uint64
	record *record
	ids    []identity // of the plan's items
	// which items exist
	present []bool
	// folders whose identity has to be read
	unknownIDs []int
	// not all items exist
	incomplete bool
	used       time.Time
	// when all files were last checked
	verified time.Time

	// Of the store's watcher, under its lock.
	watches []int32 // of the plan's items: numbers of their watches, 0 for none
	// folders that are not watched: something was touched in them, or they are new
	unwatched []int
	watching  bool // every folder was watched when the attempt started, and no event was lost
}

// newCopy returns an empty copy.
func (p *Project) newCopy() (*projectCopy, error) {
	s := p.store
	s.mu.Lock()
	s.copies++
	path := filepath.Join(s.o.Home, strconv.Itoa(s.copies))
	s.mu.Unlock()
	r, err := newRecord(path + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) { // it was removed
		if err = os.MkdirAll(s.o.Home, 0o700); err == nil {
			r, err = newRecord(path + recordSuffix)
		}
	}
	if err != nil {
		return nil, err
	}
	n := len(p.builder.plan.items)
	return &projectCopy{project: p, path: path, record: r, ids: make([]identity, n),
		present: make([]bool, n), incomplete: true, verified: time.Now()}, nil
}

// copyMode is the mode of the folder that holds a copy: it is private to the attempt.
const copyMode = 0o700

// mkdir makes the folder that holds the copy.
func (c *projectCopy) mkdir() error { return os.Mkdir(c.path, copyMode) }

// supportsExchange reports whether folders below home can be exchanged.
func supportsExchange(home string) bool {
	a, b := filepath.Join(home, "probe-a"), filepath.Join(home, "probe-b")
	err := errors.Join(os.Mkdir(a, copyMode), os.Mkdir(b, copyMode))
	if err == nil {
		err = exchangeFolders(a, b)
	}
	return errors.Join(err, os.Remove(a), os.Remove(b)) == nil
}

// complete makes the missing items.
func (c *projectCopy) complete(ctx context.Context) error { return c.completeAt(ctx, c.path) }

func (c *projectCopy) completeAt(ctx context.Context, base string) error {
	m := &c.project.builder
	if c.incomplete {
		var items []int
		touched := map[int]bool{}
		for i := range c.present {
			if !c.present[i] {
				items = append(items, i)
				touched[m.plan.items[i].parent] = true
				if m.plan.items[i].method == methodDir {
					touched[i] = true
				}
			}
		}
		if err := m.makeAll(ctx, items, base, c.ids); err != nil {
			return err
		}
		for _, i := range items {
			c.present[i] = true
		}
		for i := range touched {
			if i >= 0 {
				c.unknownIDs = append(c.unknownIDs, i)
			}
		}
	}
	for _, i := range c.unknownIDs {
		id, err := lstat(base + "/" + m.plan.items[i].Path)
		if err != nil {
			return err
		}
		c.ids[i] = id
	}
	c.unknownIDs, c.incomplete = c.unknownIDs[:0], false
	return nil
}

// discard removes copies from the disk, concurrently.
func discard(trees []*projectCopy) error {
	errs := make([]error, len(trees))
	limit := make(chan struct{}, min(runtime.GOMAXPROCS(0), 4))
	var all sync.WaitGroup
	for i, t := range trees {
		limit <- struct{}{}
		all.Go(func() {
			errs[i] = t.discard()
			<-limit
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// discard removes a copy from the disk.
func (c *projectCopy) discard() error {
	c.project.store.watcher.forget(c)
	return errors.Join(removeAll(c.path), c.record.remove())
}
