package filesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"mlframework/projects"
)

// More than one of these is not sent without a person's word.
const (
	LargeFiles = 2000
	LargeBytes = 300 << 20 // 300 MiB
)

// CheckSize returns a *LargeError where so much is to be sent that a person is asked first. Entries
// that are no files do not count.
func CheckSize(entries []projects.Entry) error {
	large := &LargeError{}
	files, bytes := map[string]int{}, map[string]int64{} // by folder
	for _, e := range entries {
		if e.Kind != projects.File {
			continue
		}
		large.Files++
		large.Bytes += e.Size
		folder := "."
		if names := strings.Split(e.Path, "/"); len(names) > 1 {
			folder = strings.Join(names[:min(len(names)-1, 2)], "/")
		}
		files[folder]++
		bytes[folder] += e.Size
	}
	many := large.Files > LargeFiles
	if !many && large.Bytes <= LargeBytes {
		return nil
	}
	for name, n := range files {
		large.Folders = append(large.Folders, LargeFolder{name, n, bytes[name]})
	}
	slices.SortFunc(large.Folders, func(a, b LargeFolder) int {
		if many && a.Files != b.Files {
			return cmp.Compare(b.Files, a.Files)
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	large.Folders = large.Folders[:min(len(large.Folders), 3)]
	return large
}

// PushOptions of a push. The zero value is ready to use.
type PushOptions struct {
	// Large is asked before so much is sent that a person may not want it, and goes on with nil. Nil
	// as a function refuses it, by the *LargeError.
	Large    func(*LargeError) error
	Wait     time.Duration  // how long to wait for another push or prune to end; 0 is 30 s, less than 0 not at all
	Progress func(Progress) // called after each piece, by the goroutine of Push; nil: nobody is told
}

// confirm asks whether what the host lacks may be sent.
func (o PushOptions) confirm(wanted []lacking) error {
	entries := make([]projects.Entry, len(wanted))
	for i, w := range wanted {
		entries[i] = w.Entry
		entries[i].Size = w.rest()
	}
	err := CheckSize(entries)
	if large, is := errors.AsType[*LargeError](err); is && o.Large != nil {
		return o.Large(large)
	}
	return err
}

// Progress is how far a push or fetch has come.
type Progress struct {
	Files, OfFiles int
	Bytes, OfBytes int64
}

// Push brings the project that m was scanned from to the host and makes its revision the current one. What the host has is not sent,
// nor what a push that was cut off has brought of a file. Where anything fails the old revision stays in force. A file that is no more what m says is a *projects.ChangedError:
// scan again. Others are *LargeError, *Refusal, and ctx's.
func (c *Client) Push(ctx context.Context, m *projects.Manifest, o PushOptions) (Pushed, error) {
	var done Pushed
	switch {
	case o.Wait == 0:
		o.Wait = lockWait
	case o.Wait < 0:
		o.Wait = 0
	}
	revision := m.Revision()
	err := c.during(ctx, "push revision "+revision, func() error {
		wanted, err := c.pushManifest(m, request{Op: opPush, Revision: revision, Wait: o.Wait})
		if err != nil {
			return err
		}
		if err := o.confirm(wanted); err != nil {
			c.conn.Close() // the far side waits for contents
			return err
		}
		a, err := c.pushContents(m, wanted, o)
		if err == nil && a.Pushed == nil {
			err = errors.New("the host does not say what it did")
		}
		if err != nil {
			return err
		}
		done = *a.Pushed
		return nil
	})
	return done, err
}

// pushManifest sends the request and gives the files whose contents the far side lacks.
func (c *Client) pushManifest(m *projects.Manifest, q request) (wanted []lacking, err error) {
	err = c.wire.writeJSON(requestFrame, q)
	if err == nil {
		err = c.wire.writeList(len(m.Entries), func(to []byte, i int) []byte { return appendEntry(to, m.Entries[i]) })
	}
	if err = errors.Join(err, c.wire.flush()); err != nil {
		return nil, c.why(err)
	}
	err = readList(c.read, func(d *decoder) {
		at := d.number(uint64(len(m.Entries)))
		if d.err == nil && (int(at) == len(m.Entries) || m.Entries[at].Kind != projects.File || len(wanted) == len(m.Entries)) {
			d.fail(errors.New("the host wants what is no file of the project"))
		}
		if d.err == nil {
			e := m.Entries[at]
			wanted = append(wanted, lacking{e, int64(d.number(uint64(e.Size)))})
		}
	})
	return wanted, err
}

// A ending is how the far side ends a request.
type ending struct {
	answer answer
	err    error
}

// pushContents sends files. Meanwhile it listens, so that a refusal stops it.
func (c *Client) pushContents(m *projects.Manifest, wanted []lacking, o PushOptions) (answer, error) {
	heard := make(chan ending, 1)
	go func() {
		a, err := c.answer()
		heard <- ending{a, err}
	}()
	s := &sender{wire: c.wire, manifest: m, heard: heard, report: o.Progress}
	for _, e := range wanted {
		s.progress.OfFiles++
		s.progress.OfBytes += e.rest()
	}
	for _, e := range wanted {
		if err := s.file(e); err != nil {
			return answer{}, s.give(c, err)
		}
	}
	if err := c.wire.flush(); err != nil {
		return answer{}, s.give(c, err)
	}
	end := <-heard
	return end.answer, end.err
}

// A sender sends contents.
type sender struct {
	wire     *wire
	manifest *projects.Manifest
	heard    chan ending
	report   func(Progress)
	progress Progress
}

// errStopped ends the sending when the far side has said something already.
var errStopped = errors.New("the host stopped")

// file sends what the far side lacks of one file.
func (s *sender) file(e lacking) error {
	f, err := s.manifest.Open(e.Entry)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(e.received, io.SeekStart); err != nil {
		return err
	}
	from := &readFault{from: f}
	err = s.wire.writeContent(from, e.rest(), s.sent)
	if from.err != nil {
		return fmt.Errorf("%w: %w", &projects.ChangedError{Path: e.Path}, from.err)
	}
	if err == nil {
		s.progress.Files++
		err = s.sent(0)
	}
	return err
}

// sent counts, and sees whether the far side wants no more.
func (s *sender) sent(n int) error {
	s.progress.Bytes += int64(n)
	if s.report != nil {
		s.report(s.progress)
	}
	if len(s.heard) > 0 {
		return errStopped
	}
	return nil
}

// give ends the sending after an error: the far side's reason counts, where the trouble is not in the files here.
func (s *sender) give(c *Client, err error) error {
	if _, ours := errors.AsType[*projects.ChangedError](err); ours || isFileError(err) {
		c.conn.Close()
		<-s.heard
		return err
	}
	if !errors.Is(err, errStopped) {
		// The connection is broken; whatever the far side said before is on its way or there.
		time.AfterFunc(farewell, func() { c.conn.Close() })
	}
	if end := <-s.heard; end.err != nil && !errors.Is(end.err, os.ErrClosed) {
		return end.err
	}
	return err
}

// farewell is how long the far side's reason is waited for after a write failed.
const farewell = 10 * time.Second

func isFileError(err error) bool {
	_, ok := errors.AsType[*projects.FileError](err)
	return ok
}
