package filesync

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"mlframework/projects"
)

// PushOptions of a push. The zero value is ready to use.
type PushOptions struct {
	// Large is asked before so much is sent that a person may not want it, and goes on with nil.
	// Nil as a function refuses it, by the *LargeError.
	Large func(*LargeError) error
	// Wait is how long to wait for another push or prune to end; 0 is 30 s, less than 0 not at all.
	Wait time.Duration
	// KeepCurrent has the host's current release stay what it is.
	KeepCurrent bool
	// called after each piece, by the goroutine of Push; nil: nobody is told
	Progress func(Progress)
}

// Progress is how far a push or fetch has come.
type Progress struct {
	Files, OfFiles int
	Bytes, OfBytes int64
}

// defaultWait is how long a push waits for another one to end, unless it says something else.
const defaultWait = 30 * time.Second

// Push brings the project that m was scanned from to the host and makes its revision the current
// one, unless KeepCurrent is set. What the host has is not sent, nor what a push that was cut off
// has brought of a file. Where anything fails the old revision stays in force. A file that is no
// more what m says is a *projects.ChangedError: scan again. Others are *LargeError, *agent.Error,
// and ctx's.
func (c *Client) Push(
	ctx context.Context, m *projects.Manifest, o PushOptions,
) (Pushed, error) {
	q := url.Values{"wait": {waitTime(o.Wait).String()}}
	if !o.KeepCurrent {
		q.Set("current", "true")
	}
	done, err := c.put(ctx, m, q, func(to io.Writer, missing []content) error {
		if err := o.confirm(missing); err != nil {
			return err
		}
		s := &sender{to: to, manifest: m, report: o.Progress}
		for _, e := range missing {
			s.progress.OfFiles++
			s.progress.OfBytes += e.rest()
		}
		for _, e := range missing {
			if err := s.file(e); err != nil {
				return err
			}
		}
		return nil
	})
	return done, failed(ctx, "push revision "+m.Revision(), err)
}

func waitTime(d time.Duration) time.Duration {
	if d == 0 {
		return defaultWait
	}
	return max(d, 0)
}

// content is a file whose content the host lacks, but for the first bytes.
type content struct {
	projects.Entry
	received int64
}

func (c content) rest() int64 { return c.Size - c.received }

// put makes a release on the host, in one request: behind the manifest send writes the contents
// that the host says it lacks, in that order.
func (c *Client) put(
	ctx context.Context, m *projects.Manifest, q url.Values,
	send func(to io.Writer, missing []content) error,
) (done Pushed, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	contents, body := io.Pipe()
	maps.Copy(q, c.query())
	manifest := bytes.NewReader(AppendEntries(nil, m.Entries))
	answer, err := c.agent.Do(ctx, http.MethodPut, "/releases/"+m.Revision()+"?"+q.Encode(),
		struct {
			io.Reader
			io.Closer
		}{io.MultiReader(manifest, contents), contents})
	if err != nil {
		return done, err
	}
	defer answer.Body.Close()
	says := said(answer)
	missing, err := readMissing(says, m)
	if err != nil {
		return done, err
	}
	to := bufio.NewWriterSize(body, bufferSize)
	if err = send(to, missing); err == nil {
		err = to.Flush()
	}
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return done, err // and what was sent stays for the next push
	}
	body.Close()
	var end PushEnd
	if err := says.Decode(&end); err != nil {
		return done, err
	}
	if e := end.Error; e != nil && e.Changed != nil {
		return done, &projects.ChangedError{Path: string(e.Changed)}
	} else if e != nil {
		return done, e
	}
	return end.Pushed, nil
}

// bufferSize is that of buffers on the way of contents, in bytes.
const bufferSize = 256 << 10

// readMissing reads which contents the host lacks.
func readMissing(says *json.Decoder, m *projects.Manifest) (all []content, err error) {
	var missing []Missing
	if err := says.Decode(&missing); err != nil {
		return nil, err
	}
	next := 0
	for _, l := range missing {
		if l.Entry < next || l.Entry >= len(m.Entries) ||
			m.Entries[l.Entry].Kind != projects.File ||
			l.Received < 0 || l.Received > m.Entries[l.Entry].Size {
			return nil, errors.New("the host wants what is no file of the project")
		}
		all = append(all, content{m.Entries[l.Entry], l.Received})
		next = l.Entry + 1
	}
	return all, nil
}

// confirm asks whether what the host lacks may be sent.
func (o PushOptions) confirm(missing []content) error {
	entries := make([]projects.Entry, len(missing))
	for i, e := range missing {
		entries[i] = e.Entry
		entries[i].Size = e.rest()
	}
	err := CheckSize(entries)
	if large, is := errors.AsType[*LargeError](err); is && o.Large != nil {
		return o.Large(large)
	}
	return err
}

// A sender sends contents of a project.
type sender struct {
	to       io.Writer
	manifest *projects.Manifest
	report   func(Progress)
	progress Progress
}

// file sends what the host lacks of one file.
func (s *sender) file(e content) error {
	f, err := s.manifest.Open(e.Entry)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(e.received, io.SeekStart); err != nil {
		return err
	}
	for left := e.rest(); left > 0; {
		n, err := io.CopyN(s.to, f, min(left, bufferSize))
		left -= n
		s.sent(n)
		switch {
		case errors.Is(err, io.ErrClosedPipe):
			return err // the host ends the push
		case err != nil:
			return fmt.Errorf("%w: %v", &projects.ChangedError{Path: e.Path}, err)
		}
	}
	s.progress.Files++
	s.sent(0)
	return nil
}

// sent counts.
func (s *sender) sent(n int64) {
	s.progress.Bytes += n
	if s.report != nil {
		s.report(s.progress)
	}
}

// Copy copies a release from a host to another, through here: what that lacks of it. Its current
// release stays as it is.
func Copy(ctx context.Context, from, to *Client, revision string) error {
	answer, err := from.agent.Do(ctx, http.MethodGet, "/releases/"+url.PathEscape(revision)+"?"+
		from.query().Encode(), nil)
	if err != nil {
		return broken(ctx, err)
	}
	defer answer.Body.Close()
	in := bufio.NewReaderSize(answer.Body, bufferSize)
	m, err := ReadManifest(in, revision)
	if err != nil {
		return broken(ctx, err)
	}
	_, err = to.put(ctx, m, url.Values{"wait": {defaultWait.String()}},
		func(to io.Writer, missing []content) error { return pass(in, to, m, missing) })
	return broken(ctx, err)
}

// pass passes on, of each content of a release in the order of its manifest, what is missing.
func pass(from io.Reader, to io.Writer, m *projects.Manifest, missing []content) error {
	for _, e := range Contents(m) {
		if len(missing) == 0 {
			return nil
		}
		skipped := e.Size
		if missing[0].Hash == e.Hash {
			skipped = missing[0].received
			missing = missing[1:]
		}
		if _, err := io.CopyN(io.Discard, from, skipped); err != nil {
			return err
		}
		if _, err := io.CopyN(to, from, e.Size-skipped); err != nil {
			return err
		}
	}
	return nil
}

// Contents returns the first file of each content, in the order of the manifest.
func Contents(m *projects.Manifest) (files []projects.Entry) {
	seen := map[string]bool{}
	for _, e := range m.Entries {
		if e.Kind == projects.File && !seen[e.Hash] {
			seen[e.Hash] = true
			files = append(files, e)
		}
	}
	return files
}
