package filesync_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/filesync"
)

// An offer of these tests is lines of a kind's letter, a path, and behind an arrow a link's target.
func entries(offer string) (list string) {
	text := func(s string) string { return string(binary.AppendUvarint(nil, uint64(len(s)))) + s }
	for line := range strings.SplitSeq(offer, "\n") {
		if len(line) < 2 {
			continue
		}
		path, link, _ := strings.Cut(line[2:], " -> ")
		size := "\x00"
		if line[0] == 'f' {
			size = "\x03"
		}
		list += line[:1] + text(path) + "\xa4\x03" + size + "\x00\x00" + text("") + text(link) +
			size +
			"\x00\x00"
	}
	return list + "\x00"
}

// contents has the same content for so many files.
func contents(n int) string {
	sum := sha256.Sum256([]byte("abc"))
	return strings.Repeat("w\x06abc\x00"+string(sum[:]), n) // zigzag: 6 is 3
}

// played is an agent that says what it likes. Without files it has those that are asked for.
type played struct{ list, files string }

func (p *played) Do(
	_ context.Context, _, path string, body io.Reader,
) (*http.Response, error) {
	says := p.list
	if path == "/outputs/files" {
		var q filesync.FilesRequest
		if err := json.NewDecoder(body).Decode(&q); err != nil {
			return nil, err
		}
		if says = p.files; says == "" {
			says = contents(len(q.Files))
		}
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(says))}, nil
}

// hostile fetches from a host that says what it likes.
func hostile(t *testing.T, dir string, says *played) (filesync.Fetched, error) {
	t.Helper()
	return filesync.NewClient(says, "/root", anna).Fetch(t.Context(),
		filesync.FetchOptions{Sweep: "run-1", Tasks: []int64{0, 1}, Dir: dir})
}

// offers fetches what a host offers, and what it has of it.
func offers(t *testing.T, dir, offer string) (filesync.Fetched, error) {
	t.Helper()
	return hostile(t, dir, &played{list: entries(offer)})
}

// within checks that below dir nothing is but the sweep's folder with files, folders, and links
// that lead nowhere but into their task's folder.
func within(t *testing.T, dir string) {
	t.Helper()
	for _, name := range names(t, dir) {
		if name != "run-1" {
			t.Errorf("beside the sweep's folder: %q", name)
		}
	}
	sweep, err := filepath.EvalSymlinks(filepath.Join(dir, "run-1"))
	must(t, err)
	must(t, filepath.WalkDir(sweep, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type().IsRegular() {
			return err
		}
		if d.Type() != fs.ModeSymlink {
			t.Errorf("%s is %v", full, d.Type())
			return nil
		}
		below, _ := filepath.Rel(sweep, full)
		name, rest, _ := strings.Cut(below, "/")
		task := filepath.Join(sweep, name)
		if at, err := filepath.EvalSymlinks(full); err == nil && at != task &&
			!strings.HasPrefix(at, task+"/") {
			target, _ := os.Readlink(full)
			t.Errorf("the link %q -> %q leads to %s", below, target, at)
		}
		root, err := os.OpenRoot(task)
		if err != nil {
			return err
		}
		defer root.Close()
		if _, err := root.Stat(rest); err != nil && strings.Contains(err.Error(), "escapes") {
			t.Errorf("the link %q: %v", below, err)
		}
		return nil
	}))
}

// FuzzNearSide fetches from a host that offers anything, three times into one folder: the last time
// it sends any bytes. What lies there stays in the folder of the sweep, and each link in that of
// its task.
func FuzzNearSide(f *testing.F) {
	for _, seed := range [][2]string{
		{"d 0\nf 0/a\nd 0/b\nl 0/b/l -> ../a", "d 0\nl 0/l -> b"},
		{"d 0\nl 0/y -> .\nl 0/x -> y/y/..", "d 0\nd 0/y\nl 0/y -> s\nl 0/s -> ."},
		{"d 0\nd 1\nl 1/x -> ../0", "o 0/pipe\nl 0/x -> /etc"},
		{"d 0\nd 0/d\nl 0/d/x -> ../d/x", "d 0\nf 0/d\nf 0/x"},
	} {
		f.Add(seed[0], seed[1], entries(seed[1]), contents(2))
	}
	f.Fuzz(func(t *testing.T, first, second, list, files string) {
		dir := t.TempDir()
		for _, offer := range []string{first, second} {
			_, _ = offers(t, dir, offer)
			within(t, dir)
		}
		_, _ = hostile(t, dir, &played{list, files})
		within(t, dir)
	})
}
