package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"mlframework/infra/filesync"
	"mlframework/infra/filesync/server"
	"mlframework/projects"
)

// A connection is one of which a test sees the read deadline.
type connection struct {
	*httptest.ResponseRecorder
	t        *testing.T
	body     io.Reader
	deadline time.Time
	silent   bool // where the body ends the client goes on to be silent
	answered int
}

func (c *connection) SetReadDeadline(at time.Time) error { c.deadline = at; return nil }

func (c *connection) Read(to []byte) (int, error) {
	if left := time.Until(c.deadline); left <= 0 || left > time.Minute {
		c.t.Errorf("the client may be silent for %v", left)
	}
	n, err := c.body.Read(to)
	if err == io.EOF && c.silent {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

func (c *connection) Write(b []byte) (int, error) {
	if !c.deadline.IsZero() {
		c.t.Errorf("the client is to send something by %v while it waits for %q", c.deadline, b)
	}
	c.answered++
	return c.ResponseRecorder.Write(b)
}

// A client may be silent while the host works, as it waits for the answer then; but not while the
// host waits for it.
func TestTheClientMayWaitForTheHost(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("x", 2<<20)
	sum := sha256.Sum256([]byte(content))
	m := &projects.Manifest{Entries: []projects.Entry{{Path: "data", Kind: projects.File,
		Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(1, 0),
		Hash: hex.EncodeToString(sum[:])}}}
	manifest := filesync.AppendEntries(nil, m.Entries)
	for _, c := range []struct {
		name, sent string
		silent     bool
		want       string
	}{
		{"all is sent", content, false, ""},
		{"silent within a file", content[:1<<20], true, "was silent for 1m0s"},
	} {
		root := t.TempDir()
		t.Cleanup(func() { _ = projects.Remove(root+"/releases", m.Revision()) })
		conn := &connection{ResponseRecorder: httptest.NewRecorder(), t: t, silent: c.silent,
			body: io.MultiReader(bytes.NewReader(manifest), strings.NewReader(c.sent))}
		mux := http.NewServeMux()
		server.Handle(mux, server.Options{Idle: time.Minute,
			Fail: func(_ http.ResponseWriter, err error) { t.Error(c.name, err) }})
		mux.ServeHTTP(conn, httptest.NewRequest("PUT", "/releases/"+m.Revision()+
			"?wait=0s&owner=anna&cluster=ml&root="+root, conn))
		answer := conn.Body.String()
		if conn.answered < 2 || strings.Contains(answer, `"error"`) != (c.want != "") ||
			!strings.Contains(answer, c.want) {
			t.Errorf("%s: %d answers, %s", c.name, conn.answered, answer)
		}
	}
}
