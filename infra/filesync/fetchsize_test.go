package filesync_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// sized is an agent that offers files of a task with that many bytes, of which the second number
// are in no hole, and says of each that it is gone.
func sized(sizes ...[2]int64) *played {
	file := func(name string, size, data int64, kind projects.Kind) string {
		return string(filesync.AppendOutput(nil, filesync.Output{Data: data, Entry: projects.Entry{
			Path: name, Kind: kind, Mode: 0o700, Size: size, ModTime: time.Unix(1, 0)}}))
	}
	p := &played{list: file("0", 0, 0, projects.Dir)}
	for i, s := range sizes {
		p.list += file(fmt.Sprint("0/", i), s[0], s[1], projects.File)
		p.files += string(filesync.Gone)
	}
	p.list += "\x00"
	return p
}

// What has no room here is not begun, and what is large only with a person's word. Holes do not
// count.
func TestSizesOfFetches(t *testing.T) {
	t.Parallel()
	const gb = 1_000_000_000
	for _, c := range []struct {
		name  string
		sizes [][2]int64
		asked string // "": nobody is
		want  string // of the error; "": none
	}{
		{"10 GB", [][2]int64{{4 * gb, 4 * gb}, {6 * gb, 6 * gb}}, "", ""},
		{"a hole of 8 TB", [][2]int64{{8000 * gb, 4096}}, "", ""},
		{"more", [][2]int64{{4 * gb, 4 * gb}, {6 * gb, 6 * gb}, {1e8, 1e8}, {1, 1}},
			"10.1 GB are to be fetched, in 4 files", ""},
		{"more than the disk has", [][2]int64{{8_000_000 * gb, 8_000_000 * gb}}, "",
			"the outputs need 8000000.0 GB, and "},
		{"more than a number holds", [][2]int64{{math.MaxInt64, math.MaxInt64},
			{math.MaxInt64, math.MaxInt64}}, "", "the outputs need 9223372036.9 GB, and "},
	} {
		for _, answer := range []error{nil, io.ErrNoProgress} {
			asked := ""
			dir := t.TempDir()
			_, err := filesync.NewClient(sized(c.sizes...), "/root", anna).Fetch(t.Context(),
				filesync.FetchOptions{Sweep: "run-1", Tasks: []int64{0}, Dir: dir,
					Confirm: func(s filesync.FetchSize) error {
						return s.Check(dir, func(e *filesync.LargeFetchError) error {
							asked = e.Error()
							return answer
						})
					}})
			want := c.want
			if c.asked != "" && answer != nil {
				want = answer.Error()
			}
			if !strings.HasPrefix(asked, c.asked) || (asked == "") != (c.asked == "") ||
				(err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: asked %q, %v; want %q", c.name, asked, err, want)
			}
		}
	}
	_, err := hostile(t, t.TempDir(), sized([2]int64{11 * gb, 11 * gb}))
	if _, large := errors.AsType[*filesync.LargeFetchError](err); !large {
		t.Errorf("with nobody to ask: %v", err)
	}
}

// room is how many bytes a file takes on its disk.
func room(t *testing.T, name string) int64 {
	t.Helper()
	var s syscall.Stat_t
	must(t, syscall.Stat(name, &s))
	return s.Blocks * 512
}

// holed makes a file of so many bytes with "data" in the middle, and returns whether its file
// system has holes.
func holed(t *testing.T, name string, size int64) bool {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	must(t, err)
	_, err = f.WriteAt([]byte("data"), size/2)
	must(t, errors.Join(err, f.Truncate(size), f.Sync(), f.Close()))
	return room(t, name) < size/2
}

// Holes are neither sent nor written, and what is zeros on the host is a hole here.
func TestHolesStayHoles(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	root, outputs := hostWith(t, map[string]string{"0/zeros": strings.Repeat("\x00", 1<<20)})
	if !holed(t, outputs+"/0/holes", size) {
		t.Skip("NOT TESTED: this file system has no holes")
	}
	dir := t.TempDir()
	done, err := fetch(t, root, dir)
	must(t, err)
	if sent := done.Bytes - 1<<20; sent > 1<<20 {
		t.Errorf("%d bytes came of a file with 4", sent)
	}
	for _, name := range []string{"holes", "zeros"} {
		here := filepath.Join(dir, "run-1", "0", name)
		if takes := room(t, here); takes > 1<<20-4096 {
			t.Errorf("%s takes %d bytes", name, takes)
		}
		same(t, here, outputs+"/0/"+name)
	}

	// It goes on where it was, and so does one with a hole where it went on.
	f, err := os.OpenFile(outputs+"/0/holes", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("end"), size+size/4)
	must(t, errors.Join(err, f.Truncate(size+size/2), f.Sync(), f.Close()))
	done, err = fetch(t, root, dir)
	must(t, err)
	if done.Bytes > 1<<20 || done.Files != 1 {
		t.Errorf("%+v", done)
	}
	here := filepath.Join(dir, "run-1", "0", "holes")
	if takes := room(t, here); takes > 1<<20 {
		t.Errorf("it takes %d bytes", takes)
	}
	same(t, here, outputs+"/0/holes")
}

// A fetch that is cut off goes on behind a hole, too.
func TestCutFetchGoesOnBehindAHole(t *testing.T) {
	t.Parallel()
	const size, data = 4 << 20, 600_000
	root, outputs := hostWith(t, map[string]string{"0/a": strings.Repeat("a", data)})
	f, err := os.OpenFile(outputs+"/0/a", os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("b", data)), size-data)
	must(t, errors.Join(err, f.Sync(), f.Close()))
	if room(t, outputs+"/0/a") > size/2 {
		t.Skip("NOT TESTED: this file system has no holes")
	}
	dir := t.TempDir()
	c := client(&reader{start(t, root), 1_000_000}, root, anna)
	first, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Dir: dir})
	if err == nil || first.Bytes < data {
		t.Fatalf("not cut behind the hole: %d bytes, %v", first.Bytes, err)
	}
	second, err := fetch(t, root, dir)
	must(t, err)
	if came := first.Bytes + second.Bytes; came > 2*data+2*4096 {
		t.Errorf("%d bytes came of %d", came, 2*data)
	}
	same(t, filepath.Join(dir, "run-1", "0", "a"), outputs+"/0/a")
}

// same checks that two files have the same content.
func same(t *testing.T, a, b string) {
	t.Helper()
	here, err := os.ReadFile(a)
	must(t, err)
	there, err := os.ReadFile(b)
	must(t, err)
	if string(here) != string(there) {
		t.Errorf("%s and %s differ", a, b)
	}
}

// A host that has offered a file with holes cannot fill the disk with what it said was in them.
func TestHolesThatAreFilled(t *testing.T) {
	t.Parallel()
	p := sized([2]int64{1 << 20, 4096})
	p.files = "w\x80\x80\x01" + strings.Repeat("x", 8192) // 8192 bytes follow
	dir := t.TempDir()
	_, err := hostile(t, dir, p)
	if err == nil || !strings.Contains(err.Error(), "sends more than the file has") {
		t.Errorf("%v", err)
	}
}
