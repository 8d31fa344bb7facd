package filesync_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// BenchmarkPush is measure P16: 1501 files with 53 MB through a connection with 10 ms of round
// trip, beside `tar | tar x` through the same. Random contents, as code is small and data is packed
// already.
func BenchmarkPush(b *testing.B) {
	dir := b.TempDir()
	r := rand.NewChaCha8([32]byte{1})
	for i := range 1501 {
		content := make([]byte, 35_300)
		_, _ = r.Read(content)
		full := filepath.Join(dir, fmt.Sprint("folder", i%40), fmt.Sprint("file", i))
		must(b, os.MkdirAll(filepath.Dir(full), 0o755))
		must(b, os.WriteFile(full, content, 0o644))
	}
	cache := filepath.Join(b.TempDir(), "hashes")
	rescan := func() *projects.Manifest {
		m, err := projects.Scan(b.Context(), dir, projects.Options{Cache: cache})
		must(b, err)
		return m
	}
	settled := time.Now().Add(-time.Minute) // else the cache does not trust them
	for i := range 1501 {
		must(b, os.Chtimes(filepath.Join(dir, fmt.Sprint("folder", i%40), fmt.Sprint("file", i)),
			settled, settled))
	}
	m := rescan()
	const half = 5 * time.Millisecond
	b.Run("tar", func(b *testing.B) {
		for b.Loop() {
			tarOver(b, half, dir, b.TempDir())
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			p := start(b, writable(b))
			c := client(delayed(p, half), p.root, anna)
			_, err := c.Push(b.Context(), m, filesync.PushOptions{})
			must(b, err)
			must(b, p.Close())
		}
	})
	root := writable(b)
	push(b, root, m)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			p := start(b, root)
			c := client(delayed(p, half), root, anna)
			_, err := c.Push(b.Context(), rescan(), filesync.PushOptions{})
			must(b, err)
			must(b, p.Close())
		}
	})
	b.Run("one changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must(b, os.WriteFile(filepath.Join(dir, "train.py"), fmt.Append(nil, i), 0o644))
			p := start(b, root)
			c := client(delayed(p, half), root, anna)
			_, err := c.Push(b.Context(), rescan(), filesync.PushOptions{})
			must(b, err)
			must(b, p.Close())
		}
	})
}

// tarOver unpacks a folder at the other end of a connection, as `tar c | ssh host tar x` does.
func tarOver(b *testing.B, half time.Duration, from, to string) {
	pack, unpack := exec.Command("tar", "c", "-C", from, "."), exec.Command("tar", "x", "-C", to)
	out, err := pack.StdoutPipe()
	must(b, err)
	in, err := unpack.StdinPipe()
	must(b, err)
	must(b, pack.Start())
	must(b, unpack.Start())
	w := newLate(in, half)
	_, err = io.Copy(w, out)
	must(b, err)
	must(b, w.Close())
	must(b, pack.Wait())
	must(b, unpack.Wait())
	time.Sleep(half) // the word that it has ended comes back
}

// delayed is a connection on which everything is under way for a while, and any amount of it.
func delayed(p *process, half time.Duration) io.ReadWriteCloser {
	r, w := io.Pipe()
	back := newLate(w, half)
	go func() {
		_, _ = io.Copy(back, p)
		back.Close()
	}()
	return struct {
		io.Reader
		io.Writer
		io.Closer
	}{r, newLate(p.WriteCloser, half), p}
}

// late passes on what is written to it after a time.
type late struct {
	to    io.WriteCloser
	after time.Duration
	queue chan parcel
	done  chan struct{}
	once  sync.Once
}

type parcel struct {
	due  time.Time
	data []byte
}

func newLate(to io.WriteCloser, after time.Duration) *late {
	l := &late{to: to, after: after, queue: make(chan parcel, 4096), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for p := range l.queue {
			time.Sleep(time.Until(p.due))
			_, _ = l.to.Write(p.data)
		}
	}()
	return l
}

func (l *late) Write(b []byte) (int, error) {
	l.queue <- parcel{time.Now().Add(l.after), append([]byte(nil), b...)}
	return len(b), nil
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.queue) })
	<-l.done
	return l.to.Close()
}
