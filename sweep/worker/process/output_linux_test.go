package process_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// flood writes 64 MiB without a line end.
const flood = `head -c 67108864 /dev/zero | tr '\000' x`

func TestMuchOutputWithoutLines(t *testing.T) {
	s, _ := shell(t, flood)
	var got, most int
	s.Stdout = writerFunc(func(b []byte) (int, error) {
		got, most = got+len(b), max(most, len(b))
		if b[0] != 'x' || b[len(b)-1] != 'x' {
			return 0, errors.New("not what was written")
		}
		return len(b), nil
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := keeper.Run(t.Context(), s)
	runtime.ReadMemStats(&after)
	if e.Code != 0 || e.OutputErr != nil || got != 64<<20 || most > 64<<10 {
		t.Errorf("got %d bytes, pieces up to %d: %+v", got, most, e)
	}
	// Each piece on its own would be 64 MiB; under the race detector a pool forgets a quarter.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

func TestWriterThatFails(t *testing.T) {
	t.Parallel()
	s, out := spec(t, "bash", "-c", "set -o pipefail; "+flood+" && echo fine >&2")
	full := errors.New("no space left on device")
	s.Stdout = writerFunc(func([]byte) (int, error) { return 0, full })
	if e := keeper.Run(t.Context(), s); e.Code != 0 || e.OutputErr != full ||
		out.String() != "fine\n" {
		t.Errorf("the program must not notice: %+v, printed %q", e, out)
	}
}

func TestOutputsTogetherAndApart(t *testing.T) {
	t.Parallel()
	s, both := shell(t, "for i in 1 2 3; do echo out; echo err >&2; done")
	keeper.Run(t.Context(), s)
	if want := "out\nerr\nout\nerr\nout\nerr\n"; both.String() != want {
		t.Errorf("one writer got %q", both)
	}
	errs := &bytes.Buffer{}
	both.Reset()
	s.Stderr = errs
	keeper.Run(t.Context(), s)
	if both.String() != "out\nout\nout\n" || errs.String() != "err\nerr\nerr\n" {
		t.Errorf("two writers got %q and %q", both, errs)
	}
	s.Stdout, s.Stderr = nil, nil
	if e := keeper.Run(t.Context(), s); e.Code != 0 {
		t.Errorf("without writers: %+v", e)
	}
}

// A process that is not of the tree may hold the pipe: here this one, by way of /proc.
func TestPipeHeldByAnother(t *testing.T) {
	t.Parallel()
	s, out := shell(t, "echo $$; read line < go; echo over")
	if err := syscall.Mkfifo(s.Dir+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	var held *os.File
	first := true
	s.Stdout = writerFunc(func(b []byte) (int, error) {
		if first {
			first = false
			var err error
			if held, err = os.OpenFile("/proc/"+string(bytes.TrimSpace(b))+"/fd/1", os.O_WRONLY,
				0); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(s.Dir+"/go", []byte("\n"), 0); err != nil {
				t.Error(err)
			}
		}
		return out.Write(b)
	})
	start := time.Now()
	e := keeper.Run(t.Context(), s)
	if held != nil {
		_ = held.Close()
	}
	if took := time.Since(start); e.Code != 0 || took > soon ||
		!bytes.HasSuffix(out.Bytes(), []byte("\nover\n")) {
		t.Errorf("got %+v after %v, printed %q", e, took, out)
	}
}

func TestStartedIsToldOnce(t *testing.T) {
	t.Parallel()
	s, out := shell(t, "echo $$")
	pids := []int{}
	s.Started = func(pid int) { pids = append(pids, pid) }
	keeper.Run(t.Context(), s)
	if got := bytes.TrimSpace(out.Bytes()); len(pids) != 1 || string(got) != strconv.Itoa(pids[0]) {
		t.Errorf("told %v, is %s", pids, got)
	}
}
