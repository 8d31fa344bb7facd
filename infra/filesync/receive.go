package filesync

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"mlframework/infra/layout"
	"mlframework/projects"
)

// Limits of a manifest.
const (
	maxEntries = 1 << 20
	maxList    = 256 << 20 // bytes of one list
)

// writers is how many small files are written at once, and smallContent is the size in bytes up to which a content waits in memory
// for one of them. Larger ones go to the disk as they come, and go on there after a push that was cut off.
const (
	writers      = 4
	smallContent = 1 << 20
)

// push receives a project: the release appears whole or not at all, and becomes the current one.
func (s *server) push(ctx context.Context, r *root, q request) (answer, error) {
	m, err := s.manifest(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := m.Check(); err != nil {
		return answer{}, refuse(Malformed, "%v", err)
	}
	if m.Revision() != q.Revision {
		return answer{}, refuse(Malformed, "the manifest is of revision %s, and not of %q", m.Revision(), q.Revision)
	}
	unlock, err := r.lock(ctx, s.client, q)
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	done := Pushed{Revision: q.Revision}
	if r.whole(q.Revision) {
		err = errors.Join(s.wire.write(listFrame, nil), r.touch(q.Revision))
	} else {
		done.Made = true
		err = s.release(ctx, r, m, &done)
	}
	if err == nil {
		err = r.setCurrent(q.Revision)
	}
	return answer{Pushed: &done}, err
}

// manifest reads the entries of a push.
func (s *server) manifest(ctx context.Context) (*projects.Manifest, error) {
	m := &projects.Manifest{}
	err := s.list(ctx, func(d *decoder) {
		m.Entries = append(m.Entries, d.entry())
		if len(m.Entries) > maxEntries {
			d.fail(fmt.Errorf("more than %d files", maxEntries))
		}
	})
	return m, err
}

// list reads a list, item by item.
func (s *server) list(ctx context.Context, item func(d *decoder)) error {
	return readList(func() (frame, error) { return s.soon(ctx) }, item)
}

// readList reads the frames of a list.
func readList(next func() (frame, error), item func(d *decoder)) error {
	for total := 0; ; {
		f, err := next()
		if err != nil {
			return err
		}
		if f.kind != listFrame {
			return refuse(Malformed, "%v", unexpected(f))
		}
		if len(f.payload) == 0 {
			return nil
		}
		if total += len(f.payload); total > maxList {
			return refuse(Malformed, "a list of more than %d bytes", maxList)
		}
		d := &decoder{rest: f.payload}
		for d.more() {
			item(d)
		}
		if d.err != nil {
			return refuse(Malformed, "%v", d.err)
		}
	}
}

// release makes a release of what other releases have and the client sends.
func (s *server) release(ctx context.Context, r *root, m *projects.Manifest, done *Pushed) error {
	return r.assemble(ctx, m, func(a *projects.Assembly, wanted []projects.Entry) error {
		all := make([]lacking, len(wanted))
		for i, e := range wanted {
			all[i].Entry = e
			if e.Size > smallContent {
				all[i].received = a.Received(e)
			}
			done.Bytes += all[i].rest()
		}
		if err := s.ask(m, all); err != nil {
			return err
		}
		done.Files, done.Reused = len(wanted), len(a.Lacking())-len(wanted)
		return s.contents(ctx, a, all)
	})
}

// assemble makes a release of what other releases have, and what put gives it of those that are
// wanted: whole, or not at all.
func (r *root) assemble(ctx context.Context, m *projects.Manifest,
	put func(a *projects.Assembly, wanted []projects.Entry) error,
) (err error) {
	releases, err := r.folder(layout.Releases, 0o755)
	if err != nil {
		return err
	}
	a, err := projects.Assemble(m, releases)
	if err != nil {
		return err
	}
	defer func() {
		if failed := a.Discard(); err == nil {
			err = failed
		}
	}()
	wanted, err := r.reuse(ctx, a)
	if err != nil {
		return err
	}
	if err := put(a, wanted); err != nil {
		return err
	}
	if err := r.store(m); err != nil {
		return err
	}
	if _, err := a.Publish(func() error { return syncDisk(releases) }); err != nil {
		return err
	}
	return syncFolder(releases)
}

// lacking is a file whose content the host lacks, but for the first bytes that a push that was cut off has brought.
type lacking struct {
	projects.Entry
	received int64
}

func (l lacking) rest() int64 { return l.Size - l.received }

// ask sends, for the files whose contents are wanted, their places in the manifest and what was received of them.
func (s *server) ask(m *projects.Manifest, wanted []lacking) error {
	at := 0
	err := s.wire.writeList(len(wanted), func(to []byte, i int) []byte {
		for m.Entries[at].Path != wanted[i].Path { // both are in the same order
			at++
		}
		return binary.AppendUvarint(binary.AppendUvarint(to, uint64(at)), uint64(wanted[i].received))
	})
	return errors.Join(err, s.wire.flush())
}

// contents receives what is wanted, in that order.
func (s *server) contents(ctx context.Context, a *projects.Assembly, wanted []lacking) error {
	c := newCrew(writers)
	err := func() error {
		for _, e := range wanted {
			from := &arrival{next: func() (frame, error) { return s.soon(ctx) }, left: e.rest()}
			if e.Size > smallContent {
				if err := a.Resume(ctx, e.Hash, e.received, from); err != nil {
					return err
				}
				continue
			}
			content := make([]byte, e.Size)
			if _, err := io.ReadFull(from, content); err != nil {
				return err
			}
			if err := c.do(func() error { return a.Put(ctx, e.Hash, bytes.NewReader(content)) }); err != nil {
				return err
			}
		}
		return nil
	}()
	if failed := c.wait(); err == nil {
		err = failed
	}
	return err
}

// An arrival reads one content out of data frames.
type arrival struct {
	next func() (frame, error)
	left int64 // bytes that are still to come in frames
	now  frame // the frame that is read from
	at   int   // how far
	err  error
}

func (a *arrival) Read(to []byte) (int, error) {
	for a.at == len(a.now.payload) {
		a.now.release()
		a.now, a.at = frame{}, 0
		if a.left == 0 && a.err == nil {
			a.err = io.EOF
		}
		if a.err != nil {
			return 0, a.err
		}
		f, err := a.next()
		switch {
		case err != nil:
			a.err = err
		case f.kind != dataFrame || len(f.payload) == 0 || int64(len(f.payload)) > a.left:
			a.err = unexpectedContent(f)
		default:
			a.now, a.left = f, a.left-int64(len(f.payload))
		}
	}
	n := copy(to, a.now.payload[a.at:])
	a.at += n
	return n, nil
}

// errCutShort says that a file became shorter while it was sent.
var errCutShort = errors.New("the file was cut short")

// unexpectedContent is the error of a frame that is not the next piece of a content: errCutShort, or the sender's own words,
// where it sends why it stops.
func unexpectedContent(f frame) error {
	if f.kind == sumFrame && len(f.payload) == 0 {
		return errCutShort
	}
	if f.kind != refusalFrame {
		return refuse(Malformed, "%v", unexpected(f))
	}
	r := &Refusal{}
	if err := f.decode(r); err != nil {
		return refuse(Malformed, "%v", err)
	}
	return r
}
