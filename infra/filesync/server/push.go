package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/projects"
)

// bufferSize is that of buffers on the way of contents, in bytes.
const bufferSize = 256 << 10

// takeRelease receives a project: the release appears whole or not at all, and becomes the current
// one where it is to. The lock is held as long as the request, and the answer is in two parts: what
// is missing, when the manifest has come, and the end.
func takeRelease(w http.ResponseWriter, r *http.Request, idle time.Duration) error {
	q, to := r.URL.Query(), http.NewResponseController(w)
	p := &push{current: q.Get("current") != "", body: bufio.NewReaderSize(&awake{r.Body, to, idle},
		bufferSize)}
	says := json.NewEncoder(w)
	asked := false
	p.ask = func(missing []filesync.Missing) error {
		asked = true
		return errors.Join(says.Encode(missing), to.Flush())
	}
	wait, err := time.ParseDuration(q.Get("wait"))
	if err != nil {
		return err
	}
	if p.manifest, err = filesync.ReadManifest(p.body, r.PathValue("revision")); err != nil {
		return err
	}
	if p.root, err = openAsked(r, true); err != nil {
		return err
	}
	defer p.root.Close()
	unlock, err := p.root.lock(r.Context(), q.Get("who"), "push", wait)
	if err != nil {
		return err
	}
	defer unlock()
	err = p.do(r.Context())
	if err != nil && !asked {
		return err
	}
	end := filesync.PushEnd{Pushed: p.done}
	if err != nil {
		end.Error = asError(err)
	}
	_ = says.Encode(end) // whoever asked is gone
	return nil
}

// awake is the body of a client that may be silent for a while only.
type awake struct {
	io.Reader
	of   *http.ResponseController
	idle time.Duration
}

func (a *awake) Read(to []byte) (int, error) {
	_ = a.of.SetReadDeadline(time.Now().Add(a.idle)) // one that has none is no connection
	n, err := a.Reader.Read(to)
	_ = a.of.SetReadDeadline(time.Time{}) // while the host works the client waits for it
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the client was silent for %v in the middle of a push", a.idle)
	}
	return n, err
}

// push is one push while the lock is held.
type push struct {
	root     *root
	manifest *projects.Manifest
	current  bool // it becomes the current release
	ask      func([]filesync.Missing) error
	body     *bufio.Reader
	done     filesync.Pushed
}

func (p *push) do(ctx context.Context) error {
	revision := p.manifest.Revision()
	p.done.Revision = revision
	var err error
	if p.root.whole(revision) {
		err = errors.Join(p.root.touch(revision), p.ask([]filesync.Missing{}))
	} else {
		p.done.Made = true
		err = p.release(ctx)
	}
	if err == nil && p.current {
		err = p.root.setCurrent(revision)
	}
	return err
}

// release makes a release of what other releases have and the client sends: whole, or not at all.
func (p *push) release(ctx context.Context) (err error) {
	releases, err := p.root.folder(layout.Releases, 0o755)
	if err != nil {
		return err
	}
	a, err := projects.Assemble(p.manifest, releases)
	if err != nil {
		return err
	}
	defer func() {
		if failed := a.Discard(); err == nil {
			err = failed
		}
	}()
	wanted, err := p.root.reuse(ctx, a)
	if err != nil {
		return err
	}
	p.done.Files, p.done.Reused = len(wanted), len(a.Lacking())-len(wanted)
	missing := p.missing(a, wanted)
	if err := p.ask(missing); err != nil {
		return err
	}
	if err := p.receive(ctx, a, wanted, missing); err != nil {
		return err
	}
	if err := p.root.store(p.manifest); err != nil {
		return err
	}
	if _, err := a.Publish(func() error { return syncDisk(releases) }); err != nil {
		return err
	}
	return syncFolder(releases)
}
