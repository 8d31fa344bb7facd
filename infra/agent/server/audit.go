package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
	"mlframework/internal/rootfile"
)

// longestAudit is how large the file of the audit grows, in bytes, before it becomes the older one.
const longestAudit = 512 << 10

// olderAudit is the name of the older one, which it replaces.
const olderAudit = layout.Audit + ".1"

// appendAudit adds a line. Where the cluster's folder is not there, as it was taken back, it does
// nothing.
func appendAudit(_ context.Context, l agent.AuditLine) error {
	root, err := openRoot(l.Root)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close()
	if _, err := root.Lstat(layout.MarkerFile); err != nil {
		return ignoreMissing(err)
	}
	if info, err := root.Lstat(layout.Audit); err == nil && info.Size() >= longestAudit {
		if err := root.Rename(layout.Audit, olderAudit); err != nil {
			return err
		}
	}
	f, err := rootfile.Open(root, layout.Audit, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(bytes.TrimSpace(l.Line), '\n'))
	return errors.Join(err, f.Close())
}

// audit answers with the last lines.
func (s *server) audit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	most, err := strconv.Atoi(q.Get("lines"))
	if err == nil && most < 0 {
		err = fmt.Errorf("lines=%d is not a number of lines", most)
	}
	if err != nil {
		fail(w, err)
		return
	}
	root, err := openRoot(q.Get("root"))
	if err != nil {
		fail(w, err)
		return
	}
	defer root.Close()
	all := []string{}
	for _, name := range []string{layout.Audit, olderAudit} {
		lines, err := lastLines(root, name, most-len(all))
		if err != nil {
			fail(w, err)
			return
		}
		all = append(lines, all...)
	}
	answer(w, all)
}

// lastLines returns the end of a file, at most so many lines; none where there is no file.
func lastLines(root *os.Root, name string, most int) ([]string, error) {
	f, err := rootfile.Open(root, name, os.O_RDONLY, 0)
	if errors.Is(err, rootfile.ErrNotRegular) {
		return nil, nil
	}
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	torn := info.Size() > 2*longestAudit
	if torn {
		if _, err := f.Seek(-2*longestAudit, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*longestAudit))
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		return nil, err
	}
	lines := []string{}
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if torn && len(lines) > 0 {
		lines = lines[1:]
	}
	return lines[max(0, len(lines)-most):], nil
}
