package site_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

func ptr[T any](v T) *T { return &v }

// noon is the time of the overviews in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func container(role string) infra.ContainerStatus {
	return infra.ContainerStatus{Role: role, Name: "mlframework-c-" + role, State: "running",
		Running: true, Started: noon.Add(-90 * time.Minute)}
}

func host(name string, roles ...string) infra.HostStatus {
	h := infra.HostStatus{Name: name, Address: "anna@" + name, Reached: true, Free: 1 << 40,
		Cores: 4, Load: 1.5, Wanted: roles}
	for _, r := range roles {
		h.Worker = h.Worker || r == plan.Worker
		h.Containers = append(h.Containers, container(r))
	}
	return h
}

func worker(name, state string) core.Worker {
	return core.Worker{Name: name, Host: name, State: state, Slots: 4,
		Seen: ptr(noon.Add(-time.Second)), Program: "1a2b3c4d5e6f+changes",
		Running: []task.Busy{{Sweep: "train-7", Index: 3}},
		Load:    &task.Load{CPU: 0.5, MemoryTotal: 8 << 30, MemoryFree: 6 << 30}}
}

// whole returns a cluster without faults: a master on gpu1, workers on gpu2 and gpu3.
func whole() site.Overview {
	return site.Overview{
		Version: 1, Time: noon, Cluster: "c", Master: "gpu1",
		Hosts: []infra.HostStatus{host("gpu1", plan.Broker, plan.Master, plan.Monitor),
			host("gpu2", plan.Worker), host("gpu3", plan.Worker)},
		Workers: []core.Worker{worker("gpu2", core.WorkerReady), worker("gpu3", core.WorkerReady)},
		Broker: &api.Broker{Program: ptr("RabbitMQ 4.2.0"), Since: ptr(noon.Add(-49 * time.Hour)),
			Queues: []queue.Depth{{Queue: "tasks.gpu2", Messages: 3, Unacked: ptr(2),
				Consumers: ptr(1)}, {Queue: "events"}}, Refused: ptr(int64(2))},
		Sweeps: []core.Summary{{ID: "train-7", State: core.Open, Total: 100,
			Submitted: noon.Add(-5 * time.Minute),
			Counts: map[string]int64{"succeeded": 40, "failed": 2, "oom": 1, "cancelled": 3,
				"running": 8, "pending": 46}}},
	}
}

// The digests of images are shown.
func TestImagesAreShown(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Images = []layout.RecordImage{{Ref: "python:3.12-slim", Digest: "sha256:0123456789abcdef"},
		{Ref: "ours:1", IDs: map[string][]string{"amd64": {"sha256:123456789abcdef0"},
			"arm64": {"sha256:23456789abcdef01"}}}}
	text := strings.Join(o.Tables(80), "\n")
	for _, line := range []string{"\npython:3.12-slim  sha256:0123456789ab\n",
		"\nours:1            sha256:123456789abc (amd64), sha256:23456789abcd (arm64)\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*site.Overview)
		ready  []api.Reason
		warns  []api.Reason
		silent error
		want   []site.Fault
	}{
		"none": {want: []site.Fault{}},
		"a worker of a host that was given up": {change: func(o *site.Overview) {
			o.Workers = append(o.Workers, worker("gpu4", core.WorkerReady))
		}, want: []site.Fault{{"gpu4", "this worker is ready, and is on no host of the cluster",
			"list its host (-a, -w) and run infrainit -f, or stop it there"}}},
		"a host that is away": {change: func(o *site.Overview) {
			o.Hosts[1] = infra.HostStatus{Name: "gpu2", Worker: true, Wanted: []string{plan.Worker},
				Problem: "connect to gpu2: no answer", Remedy: "switch it on"}
			o.Workers[0].State, o.Workers[0].Reason = core.WorkerAway, ptr("not heard for 30s")
		}, want: []site.Fault{{"gpu2", "connect to gpu2: no answer", "switch it on"},
			{"gpu2", "its worker is away: not heard for 30s",
				"check-status --logs gpu2 shows what it says"}}},
		"a host that leaves and is away": {change: func(o *site.Overview) {
			o.Hosts[1] = infra.HostStatus{Name: "gpu2", Leaves: true,
				Problem: "connect to gpu2: no answer", Remedy: "switch it on"}
			o.Workers[0].State = core.WorkerAway
		}, want: []site.Fault{{"gpu2",
			"it is to leave the cluster, and is off or cannot be asked: connect to gpu2: no answer",
			"when it is back, infrainit -f removes its container; if it never comes back: " +
				"infrainit -f --skip-bad"}}},
		"a host that leaves and is back": {change: func(o *site.Overview) {
			o.Hosts[1] = infra.HostStatus{Name: "gpu2", Reached: true, Leaves: true}
			o.Workers[0].State = core.WorkerDraining
		}, want: []site.Fault{{"gpu2", "it is to leave the cluster, and is back",
			"infrainit -f removes its container"}}},
		"a Docker that is away": {change: func(o *site.Overview) {
			o.Hosts[2].Problem = "reach docker on gpu3: gone"
		},
			want: []site.Fault{{"gpu3", "reach docker on gpu3: gone", ""}}},
		"a worker of another image": {change: func(o *site.Overview) {
			c := &o.Hosts[2].Containers[0]
			c.Image, c.Digest, c.Other = "python:3.12-slim", "sha256:0123456789abcdef", true
		}, want: []site.Fault{{"gpu3",
			"the worker runs another python:3.12-slim (sha256:0123456789ab) than the cluster has",
			"infrainit -f starts it with the cluster's"}}},
		"no container": {change: func(o *site.Overview) {
			o.Hosts[0].Containers = o.Hosts[0].Containers[:2]
		},
			want: []site.Fault{{"gpu1", "there is no container of the monitor",
				"infrainit -f starts one"}}},
		"containers that ended": {change: func(o *site.Overview) {
			for _, at := range []struct{ host, container int }{{0, 0}, {1, 0}} {
				end := &o.Hosts[at.host].Containers[at.container]
				end.Running, end.State, end.Exit = false, "exited", 137
			}
		}, want: []site.Fault{{"gpu1", "the broker is exited, exit code 137",
			"check-status --logs broker shows why; infrainit -f starts it"},
			{"gpu2", "the worker is exited, exit code 137",
				"check-status --logs gpu2 shows why; infrainit -f starts it"}}},
		"certificates that end": {change: func(o *site.Overview) {
			const day = 24 * time.Hour
			o.Certificates = []infra.Certificate{
				{Service: "broker", Until: noon.Add(19*day + time.Hour)},
				{Service: "monitor", Until: noon.Add(-day)},
				{Service: "monitor", Until: noon.Add(31 * day)}}
		}, want: []site.Fault{
			{"", "the certificate of the broker ends on 2026-03-20, in 19 days",
				"infrainit -f makes a new one"},
			{"", "the certificate of the monitor ended on 2026-02-28",
				"infrainit -f makes a new one"}}},
		"a paused container": {change: func(o *site.Overview) {
			o.Hosts[2].Containers[0].State = "paused"
		},
			want: []site.Fault{{"gpu3", "the worker is paused",
				"docker unpause mlframework-c-worker there"}}},
		"a full disk": {change: func(o *site.Overview) {
			o.Hosts[1].Free, o.Hosts[1].Root = 5<<20, "/home/anna/ml/c"
			o.Workers[0] = worker("gpu2", core.WorkerRefused)
			o.Workers[0].Reason = ptr(task.NoSpaceReason + " (/mlframework/outputs on gpu2)")
		}, want: []site.Fault{{"gpu2", "its disk is full: 5 MB are free for /home/anna/ml/c",
			"free some space on that disk"},
			{"gpu2", "its worker is refused: no space left for outputs (/mlframework/outputs on " +
				"gpu2)", "free some space on the disk of /home/anna/ml/c on gpu2; the worker " +
				"then continues by itself"}}},
		"a master that runs and is silent": {silent: errors.New("no answer"),
			want: []site.Fault{{"", "the master does not answer: no answer",
				"check-status --logs master shows what it says"}}},
		"a master that does not run": {silent: errors.New("no answer"),
			change: func(o *site.Overview) {
				end := &o.Hosts[0].Containers[1]
				end.Running, end.State = false, "exited"
			}, want: []site.Fault{{"gpu1", "the master is exited, exit code 0",
				"check-status --logs master shows why; infrainit -f starts it"}}},
		"a master's host that is away": {silent: errors.New("no answer"),
			change: func(o *site.Overview) {
				o.Hosts[0].Reached, o.Hosts[0].Problem = false, "lost"
			}, want: []site.Fault{{"gpu1", "lost", ""}}},
		"a store that lost something": {warns: []api.Reason{{What: "store",
			Text: "worker gpu2 reports 3 tasks of train-7", Since: ptr(noon)}},
			want: []site.Fault{{"",
				"worker gpu2 reports 3 tasks of train-7, since 2026-03-01 12:00:00 UTC", ""}}},
		"a broker that is away": {ready: []api.Reason{{What: "broker", Text: "the broker refuses"},
			{What: "store", Text: "disk full"}},
			want: []site.Fault{{"", "the master is not ready: the broker refuses",
				"check-status --logs broker shows what it says"},
				{"", "the master is not ready: disk full", ""}}},
		"a worker that the master does not know": {change: func(o *site.Overview) {
			o.Workers = o.Workers[1:]
		},
			want: []site.Fault{{"gpu2", "the master has not heard of its worker",
				"check-status --logs gpu2 shows what it says"}}},
		"workers that run nothing": {change: func(o *site.Overview) {
			o.Workers[0] = worker("gpu2", core.WorkerDraining)
			o.Workers[1] = worker("gpu3", core.WorkerRefused)
			o.Workers[1].Reason = ptr("too new")
		}, want: []site.Fault{{"gpu2", "its worker is draining",
			"run-tasks workers resume gpu2 has it go on"},
			{"gpu3", "its worker is refused: too new",
				"infrainit -f brings all of them one program"}}},
		"a worker without files of a sweep": {change: func(o *site.Overview) {
			o.Workers[0].Lacks = []string{"0a1b2c3d4e5f"}
		}, want: []site.Fault{{"gpu2", "its worker gets no tasks of these revisions, as their " +
			"files are not there: 0a1b2c3d4e5f",
			"infrainit -f brings them, as does a run-tasks that follows a sweep of them"}}},
		"a worker of nobody": {change: func(o *site.Overview) {
			o.Workers = append(o.Workers, worker("gpu9", core.WorkerAway))
		},
			want: []site.Fault{{"gpu9",
				"no host has this worker any more, and the master waits for it",
				"run-tasks workers forget gpu9"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := whole()
			if c.change != nil {
				c.change(&o)
			}
			if diff := cmp.Diff(c.want, o.Judge(c.ready, c.warns, c.silent)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTablesAndVerdict(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[1].Containers = nil
	o.Hosts[1].Problem,
		o.Hosts[1].Remedy =
		"evil \x1b[31m text that is longer than any narrow window would like it to be, far",
		"do\nthis"
	o.Judge(nil, nil, nil)
	want := `cluster c, master on gpu1

HOST  ROLE     STATE      SINCE  SLOTS  BUSY  LOAD      DISK
gpu1  broker   running    1h                  1.5 of 4  1024.0G free
gpu1  master   running    1h
gpu1  monitor  running    1h
gpu2           not known
gpu3  worker   ready      1h     4      1     1.5 of 4  1024.0G free

WORKER  STATE  SLOTS  BUSY  HEARD   CPU  MEMORY        WAITING  TASKS      VERSION
gpu2    ready  4      1     1s ago  50%  2.0G of 8.0G  0        train-7/3  1a2b3c4d5e6f+changes
gpu3    ready  4      1     1s ago  50%  2.0G of 8.0G  0        train-7/3  1a2b3c4d5e6f+changes

broker reached, RabbitMQ 4.2.0, for 2d, refused messages: 2 (its master's log has them)
QUEUE       READY  UNACKED  CONSUMERS
tasks.gpu2  3      2        1
events      0

SWEEP    STATE    DONE       RUNNING  FAILED  PRIORITY  SUBMITTED
train-7  running  46 of 100  8        3       0         5m ago

gpu2: evil \x1b[31m text that is longer than any narrow window would like it to be, far
  do
  this`
	got := strings.Join(append(append(o.Tables(0), ""), o.Verdict(0)...), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, width := range []int{60, 40} {
		for _, l := range append(o.Tables(width), o.Verdict(width)...) {
			if utf8.RuneCountInString(l) > width {
				t.Errorf("wider than %d: %q", width, l)
			}
		}
	}
	if narrow := strings.Join(o.Tables(60), "\n"); strings.Contains(narrow, "VERSION") ||
		!strings.Contains(narrow, "HEARD") {
		t.Errorf("at 60 columns:\n%s", narrow)
	}
	o = whole()
	o.Judge(nil, nil, nil)
	if v := o.Verdict(60); !o.Well || len(v) != 1 || v[0] != "all is well" {
		t.Errorf("%v, %q", o.Well, v)
	}
	o.Hosts[1].ClockSkew = -time.Hour
	if v := o.Verdict(0); !o.Well || len(v) != 2 || v[0] != "warning: gpu2: its clock differs from "+
		"this machine's by -1h0m0s: start an NTP client there; sweeps go on meanwhile" {
		t.Errorf("%v, %q", o.Well, v)
	}
	o.Hosts[1].ClockSkew = time.Second
	why := "the kernel has no Landlock"
	o.Workers[0].Unconfined = &why
	o.Judge(nil, nil, nil) // hosts have the kernels that they have: no fault
	if v := o.Verdict(0); !o.Well || len(v) != 2 ||
		v[0] != "note: gpu2: tasks can reach what the worker has: "+why {
		t.Errorf("%v, %q", o.Well, v)
	}
}

// docs/check-status.md describes every key that --json prints.
func TestTheDocumentHasEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/check-status.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{site.Overview{}, infra.HostStatus{}, infra.ContainerStatus{},
		site.Fault{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && key != "-" && !strings.Contains(string(text), "`"+key+"`") {
				t.Errorf("docs/check-status.md does not say what %q is", key)
			}
		}
	}
}

func TestVersionsThatDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cluster, here, want string }{
		{"", "", ""},
		{"", "v1.0.0", "note: the cluster runs a release older than this program, v1.0.0; " +
			"infrainit -f updates it"},
		{"v1.0.0", "v1.0.0", ""},
		{"v1.0.0", "v1.0.0-1-gab", "note: the cluster runs v1.0.0, older than this program, " +
			"v1.0.0-1-gab; infrainit -f updates it"},
		{"v2.0.0", "v1.0.0", "note: the cluster runs v2.0.0, newer than this program, v1.0.0"},
		{"x\x1b[31m", "v1", "note: the cluster runs x\\x1b[31m, another version than this " +
			"program, v1"},
	} {
		o := whole()
		o.Judge(nil, nil, nil)
		o.OfVersions(c.cluster, c.here)
		got := strings.TrimSuffix(strings.Join(o.Verdict(0), "\n"), "all is well")
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%q", got)
		}
	}
}

// Missing containers have a row, and hosts that other clusters use have a note.
func TestMissingContainersAndOtherClusters(t *testing.T) {
	t.Parallel()
	o := whole()
	o.Hosts[2].Containers = nil
	o.Hosts[1].Others = []infra.OtherWorker{{Cluster: "d", Owner: "ben\x1b[m", Slots: 2}}
	o.Workers[1].Running = append(o.Workers[1].Running, task.Busy{Sweep: "a-1"}, task.Busy{})
	o.Judge(nil, nil, nil)
	text := strings.Join(append(o.Tables(0), o.Verdict(0)...), "\n")
	for _, want := range []string{
		"gpu3  worker   missing                      1.5 of 4  1024.0G free\n",
		"  train-7/3, a-1/0 and 1 more  ",
		"note: gpu2 is also used by cluster d of ben\\x1b[m (slots: 2): 6 slots on 4 cores\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q\n%s", want, text)
		}
	}
}
