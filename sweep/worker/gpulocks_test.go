package worker_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

const anna = "run-tasks of anna in /home/anna/digits (pid 411)"

// locking has a worker lock its GPUs in a folder, as a holder with a name.
func locking(folder, holder string) func(*worker.Options) {
	return func(o *worker.Options) { o.GPULocks, o.GPUHolder = folder, holder }
}

// busyOn waits until a site's heartbeats say why a GPU is not available.
func (s *site) busyOn(n int, why string) {
	s.t.Helper()
	s.beat(why, func(h task.Heartbeat) bool {
		return len(h.GPUs) > n && h.GPUs[n].Unavailable == why
	})
}

func gpuLock(uuid string) string { return "mlframework-gpu-" + uuid + ".lock" }

// ofSomebodyElse makes a folder one of all users, as /dev/shm, with a lock file that another user
// made, if these tests may do that.
func ofSomebodyElse(t *testing.T, folder, name string) {
	t.Helper()
	path := filepath.Join(folder, name)
	for _, err := range []error{os.Chmod(folder, 0o777|os.ModeSticky),
		os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
}

// Two workers on a machine never give the same GPU to their attempts, although its memory says that
// it is free.
func TestWorkersLockTheirGPUs(t *testing.T) {
	folder := t.TempDir()
	ofSomebodyElse(t, folder, gpuLock("GPU-1"))
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, c *cards, p *programs) {
		other := newSite(t, nil, fake(p.run), locking(folder, "another"), func(o *worker.Options) {
			o.Slots, o.GPUs, o.HideGPUs = 4, c.look, true
		})
		defer other.stop()
		halves := using(0.5, "GPU-1", 10, 11, 12)
		s.send(each(0))
		p.running(t, "at first", "0: GPU-0")
		other.send(halves)
		p.running(t, "beside another worker", "0: GPU-0", "10: GPU-1", "11: GPU-1")
		other.busyOn(0, "busy: "+anna)
		s.send(using(1, "GPU-1", 1))
		s.busyOn(1, "busy: another")
		other.tell(stopOf(10))
		time.Sleep(10 * time.Second)
		p.running(t, "a share is locked as all of it", "0: GPU-0", "11: GPU-1", "12: GPU-1")
		other.tell(stopOf(11))
		other.tell(stopOf(12))
		time.Sleep(10 * time.Second)
		s.send(using(1, "GPU-1", 2))
		p.running(t, "when it is released", "0: GPU-0", "2: GPU-1")
		if holder := worker.Holder(filepath.Join(folder, gpuLock("GPU-1"))); holder != anna {
			t.Errorf("GPU 1 is locked by %q", holder)
		}
		s.stop()
		for _, name := range []string{gpuLock("GPU-0"), gpuLock("GPU-1")} {
			info, err := os.Stat(filepath.Join(folder, name))
			if err != nil || info.Mode() != 0o666 ||
				worker.Holder(filepath.Join(folder, name)) != "" {
				t.Error(name, info.Mode(), err)
			}
		}
		if diff := cmp.Diff(map[string]int{"GPU-0": 1, "GPU-1": 2}, p.most); diff != "" {
			t.Error(diff)
		}
	}, locking(folder, anna))
}

// A lock that another process took since the latest look counts, too: what wants the GPU is returned.
// All of several are locked, or none.
func TestGPUThatWasLockedSinceTheLook(t *testing.T) {
	for name, holder := range map[string]string{"anna": anna, "without a name": ""} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			onCards(t, gpus(gpu(0), gpu(1), gpu(2)),
				func(t *testing.T, s *site, _ *cards, p *programs) {
					s.send(each(0))
					p.running(t, "at first", "0: GPU-0")
					time.Sleep(time.Millisecond)
					lock, err := worker.Acquire(t.Context(), filepath.Join(folder, gpuLock("GPU-2")),
						holder)
					s.must(err)
					s.send(using(1, "GPU-1 GPU-2", 1))
					p.running(t, "beside another's", "0: GPU-0")
					if got := worker.Holder(filepath.Join(folder, gpuLock("GPU-1"))); got != "" {
						t.Errorf("one of two is locked by %q", got)
					}
					s.seen(task.ReturnedEvent, 1, 1)
					s.must(lock.Release())
					time.Sleep(5*time.Second + time.Millisecond)
					s.send(using(1, "GPU-2", 2))
					p.running(t, "when it is released", "0: GPU-0", "2: GPU-2")
				}, locking(folder, "w1"))
		})
	}
}

// A lock whose file was removed, as systemd removes those of users who log out, is taken again.
func TestLockWhoseFileIsRemoved(t *testing.T) {
	folder := t.TempDir()
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, p *programs) {
		s.send(each(0))
		p.running(t, "at first", "0: GPU-0")
		s.must(os.Remove(filepath.Join(folder, gpuLock("GPU-0"))))
		time.Sleep(5*time.Second + time.Millisecond)
		other := newSite(t, nil, fake(p.run), locking(folder, "another"), func(o *worker.Options) {
			o.Slots, o.GPUs, o.HideGPUs = 4, c.look, true
		})
		defer other.stop()
		other.send(using(1, "GPU-0", 10))
		other.busyOn(0, "busy: "+anna)
		p.running(t, "beside another worker", "0: GPU-0")
		time.Sleep(time.Minute)
		other.send(using(1, "GPU-0", 11))
		p.running(t, "when it is released", "11: GPU-0")
	}, locking(folder, anna))
}

// Where GPUs cannot be locked, whoever made it so, attempts get them all the same.
func TestGPUsThatCannotBeLocked(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(folder string) error
		want string
	}{
		{"no folder above", func(string) error { return nil }, "no such file or directory"},
		{"a file", func(at string) error { return touch(at) }, "not a directory"},
		{"a link to a file", func(at string) error {
			return os.Symlink("/etc/passwd", filepath.Join(at, gpuLock("GPU-0")))
		}, "too many levels of symbolic links"},
		{"a pipe", func(at string) error {
			return syscall.Mkfifo(filepath.Join(at, gpuLock("GPU-0")), 0o666)
		}, "is not a lock file"},
		{"a second name", func(at string) error {
			return os.Link(filepath.Join(at, "own"), filepath.Join(at, gpuLock("GPU-0")))
		}, "is not a lock file"},
		{"a folder", func(at string) error {
			return os.Mkdir(filepath.Join(at, gpuLock("GPU-0")), 0o700)
		}, "is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "locks")
			switch c.name {
			case "no folder above":
				folder = filepath.Join(folder, "locks")
			case "a file":
			default:
				for _, err := range []error{os.Mkdir(folder, 0o700),
					os.WriteFile(filepath.Join(folder, "own"), []byte("mine"), 0o600)} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.make(folder); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, _ *cards, p *programs) {
				s.send(using(1, "GPU-0", 0, 1))
				p.running(t, "without a lock", "0: GPU-0")
				time.Sleep(time.Minute + time.Millisecond)
				p.running(t, "then", "1: GPU-0")
				s.stop()
				if text := log.String(); strings.Count(text, "cannot be locked") != 1 ||
					!strings.Contains(text, c.want) {
					t.Errorf("the log says\n%s", text)
				}
				if own, err := os.ReadFile(filepath.Join(folder, "own")); err == nil &&
					string(own) != "mine" {
					t.Errorf("a file of somebody else says %q", own)
				}
			}, locking(folder, "w1"), func(o *worker.Options) {
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
			})
		})
	}
}

// What a holder is called comes from any user.
func TestHoldersOfGPUs(t *testing.T) {
	t.Parallel()
	sick := func(g *nvdocker.GPU) { g.Errors = 3 }
	for _, c := range []struct {
		name, holder string
		runs         []worker.On
		report       nvdocker.Report
		want         string
	}{
		{"free", "", nil, gpus(gpu(0)), ""},
		{"held", anna, nil, gpus(gpu(0)), "busy: " + anna},
		{"its program is known", anna, nil, gpus(gpu(0, busy)), "busy: " + anna},
		{"this worker", anna, []worker.On{on(1, 1, "GPU-0")}, gpus(gpu(0, busy)), ""},
		{"not to be printed", "a\x1b[2J\nb", nil, gpus(gpu(0)), `busy: a\x1b[2J; b`},
		{"broken", anna, nil, gpus(gpu(0, sick)),
			"GPU 0: its memory had 3 uncorrected errors (ECC)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPool(gpus(gpu(0)))
			p.Start(c.runs...)
			p.SetHolders(map[string]string{"GPU-0": c.holder})
			p.look(c.report)
			if got := p.reasons()["GPU-0"]; got != c.want {
				t.Errorf("%q", got)
			}
			if d := p.Describe()[0]; d.Broken != (c.name == "broken") {
				t.Error(d)
			}
			p.SetHolders(nil)
			if p.look(gpus(gpu(0))); c.name != "broken" && p.reasons()["GPU-0"] != "" {
				t.Errorf("then: %q", p.reasons())
			}
		})
	}
}

func TestDeniedGPU(t *testing.T) {
	t.Parallel()
	p := newPool(gpus(gpu(0), gpu(1)))
	p.Start(on(1, 0.5, "GPU-0"))
	diff := cmp.Diff([]string{"GPU-1", "GPU-2"}, p.Unshared("GPU-2", "GPU-0", "GPU-1"))
	if diff != "" {
		t.Error(diff)
	}
	p.Deny("GPU-1")
	if got := p.Start(on(2, 1, "GPU-1"), on(4, 0.5, "GPU-0")); len(got) != 1 || got[0] != 4 {
		t.Error(got)
	}
	p.look(gpus(gpu(0), gpu(1)))
	if got := p.reasons()["GPU-1"]; got != "busy: another program has its lock" {
		t.Error(got)
	}
	p.look(gpus(gpu(0), gpu(1)))
	if got := p.Start(on(3, 1, "GPU-1")); len(got) != 1 {
		t.Error(got)
	}
}

// A run that an attempt begins may use the GPUs of the attempt.
func TestAttemptsWithGPUsLockNone(t *testing.T) {
	t.Parallel()
	c := &cards{report: gpus(gpu(0))}
	for _, count := range []float64{0, 1} {
		got, _ := environment(t, func(b *task.Batch) {
			if count > 0 {
				b.Attempts[0].Devices, b.Attempts[0].Share = []task.Device{{UUID: "GPU-0"}}, 1
			}
		},
			inherit("MLFRAMEWORK_GPU_LOCKS=/x"), func(o *worker.Options) { o.GPUs = c.look })
		var environ []string
		for name, value := range got {
			environ = append(environ, name+"="+value)
		}
		if folder := worker.GPULockFolder(environ); (folder == "") != (count > 0) {
			t.Errorf("with %v GPUs: %q", count, folder)
		}
	}
	if folder := worker.GPULockFolder(nil); folder != "/dev/shm" {
		t.Error(folder)
	}
}
