package filesync

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mlframework/projects"
)

// Names below DIR/SWEEP. No scan takes what is in .mlframework for a part of a project.
const (
	ownName     = ".mlframework"
	fetchFolder = ownName + "/fetch"
	sweepName   = fetchFolder + "/sweep"   // whose outputs these are
	recordName  = fetchFolder + "/record"  // the files that fetches made
	partsName   = fetchFolder + "/partial" // files on their way
)

// A destination is the folder DIR/SWEEP of fetches.
type destination struct {
	*os.Root // no name leads out of it
	known    map[string]made
	record   *os.File
}

// made is how a fetch left a file: its size, and its time on the host and here in nanoseconds. A
// link has size -1, and no time on the host.
type made struct{ size, there, here int64 }

// origin says whose outputs a destination holds.
type origin struct {
	Version               int // 1
	Owner, Cluster, Sweep string
}

// openDestination makes the folder, or opens that of an earlier fetch of the same sweep.
func openDestination(dir, sweep string, id Identity) (*destination, error) {
	folder := filepath.Join(dir, sweep)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	d := &destination{Root: opened}
	err = d.claim(origin{1, id.Owner, id.Cluster, sweep}, dir)
	if err == nil {
		err = d.mark()
	}
	if err == nil {
		err = d.load()
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return d, nil
}

func (d *destination) close() { d.record.Close(); d.Root.Close() }

// claim sees that the folder is for the outputs of the origin. The items are listed first: another
// fetch that begins at the same time signs the folder before it puts anything into it.
func (d *destination) claim(from origin, dir string) error {
	items, err := fs.ReadDir(d.FS(), ".")
	if err != nil {
		return err
	}
	data, err := d.ReadFile(sweepName)
	if errors.Is(err, fs.ErrNotExist) {
		for _, item := range items {
			if item.Name() != ownName {
				return &ConflictError{dir, []string{from.Sweep + "/" + item.Name()}}
			}
		}
		return d.sign(from)
	}
	if err != nil {
		return err
	}
	var found origin
	if json.Unmarshal(data, &found) != nil || found != from {
		return fmt.Errorf("%s holds the outputs of %s of %s's cluster %q: fetch into another "+
			"folder with --to", d.Name(), found.Sweep, found.Owner, found.Cluster)
	}
	return nil
}

// sign writes the origin; another fetch may do so at the same time.
func (d *destination) sign(from origin) error {
	if err := d.MkdirAll(partsName, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	temporary := sweepName + "." + rand.Text()
	if err := d.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return d.Rename(temporary, sweepName)
}

// mark keeps the folder out of a project that it may lie in: DIR may be a part of it.
func (d *destination) mark() error {
	if _, err := d.Lstat(projects.ResultsMark); err == nil {
		return nil
	}
	return d.WriteFile(projects.ResultsMark, nil, 0o600)
}

// load reads the record and opens it for more. A line is size, time there, time here, and the
// quoted path; the last one of a path counts, and a torn one not.
func (d *destination) load() error {
	if err := d.MkdirAll(partsName, 0o700); err != nil {
		return err
	}
	f, err := d.OpenFile(recordName, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return err
	}
	d.record, d.known = f, map[string]made{}
	for line := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(fields) != 4 {
			continue
		}
		size, err1 := strconv.ParseInt(fields[0], 10, 64)
		there, err2 := strconv.ParseInt(fields[1], 10, 64)
		here, err3 := strconv.ParseInt(fields[2], 10, 64)
		name, err4 := strconv.Unquote(fields[3])
		if errors.Join(err1, err2, err3, err4) == nil {
			d.known[name] = made{size, there, here}
		}
	}
	return nil
}

// note adds to the record, in one write, as other fetches do at the same time.
func (d *destination) note(name string, m made) error {
	_, err := fmt.Fprintf(d.record, "\n%d %d %d %s\n", m.size, m.there, m.here, strconv.Quote(name))
	return err
}

// noteFile records a file as it is now.
func (d *destination) noteFile(e projects.Entry) error {
	info, err := d.Lstat(e.Path)
	if err != nil {
		return err
	}
	return d.note(e.Path, made{info.Size(), e.ModTime.UnixNano(), info.ModTime().UnixNano()})
}

// noteLink records a link as it is now.
func (d *destination) noteLink(name string) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	return d.note(name, made{size: -1, here: info.ModTime().UnixNano()})
}

// made says whether a file or link is as a fetch left it.
func (d *destination) made(name string, now fs.FileInfo) bool {
	m, known := d.known[name]
	asLeft := m.here == now.ModTime().UnixNano()
	switch now.Mode().Type() {
	case 0:
		return known && asLeft && m.size == now.Size()
	case fs.ModeSymlink:
		return known && asLeft && m.size == -1
	}
	return false
}

// has says whether the offered file is there: with its size and time, or the time that this file
// system made of it.
func (d *destination) has(e projects.Entry, now fs.FileInfo) bool {
	if !now.Mode().IsRegular() || now.Size() != e.Size {
		return false
	}
	return now.ModTime().Equal(e.ModTime) ||
		d.made(e.Path, now) && d.known[e.Path].there == e.ModTime.UnixNano()
}

// part is where a file is while it is on its way.
func (d *destination) part(name string) string {
	sum := sha256.Sum256([]byte(name))
	return partsName + "/" + hex.EncodeToString(sum[:])
}

// sum is the SHA-256 of a file's first size bytes.
func (d *destination) sum(ctx context.Context, name string, size int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	for left := size; left > 0 && err == nil; {
		n := min(left, 16<<20)
		err = errors.Join(copyStart(h, f, n), ctx.Err())
		left -= n
	}
	return h.Sum(nil), err
}
