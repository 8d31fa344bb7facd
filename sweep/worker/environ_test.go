package worker_test

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// environment runs env and returns what it printed; twice lists names that came twice.
func environment(t *testing.T, adapt func(*task.Batch),
	change ...func(*worker.Options)) (vars map[string]string, twice []string) {
	t.Helper()
	s := newSite(t, nil, change...)
	b := batch("", 7)
	b.Recipe.Command, b.Attempts[0].Number = []string{"env"}, 3
	if adapt != nil {
		adapt(&b)
	}
	s.send(b)
	if o := s.ended(7, 3); o.Class != task.Success {
		t.Fatal(o)
	}
	vars = map[string]string{}
	for line := range strings.Lines(s.file(7, "stdout.log")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, ok := vars[name]; ok {
			twice = append(twice, name)
		}
		vars[name] = strings.ReplaceAll(value, s.outputs, "OUTPUTS")
	}
	return vars, twice
}

func inherit(vars ...string) func(*worker.Options) {
	return func(o *worker.Options) { o.Inherited = append(o.Inherited, vars...) }
}

// ownSecrets are those of the environment.
func ownSecrets(o *worker.Options) { o.OwnSecrets = true }

func TestAnAttemptSeesExactlyThisEnvironment(t *testing.T) {
	t.Parallel()
	inherited := inherit("HOME=/home/anna", "USER=anna", "LOGNAME=anna2", "LANG=C", "EMPTY=",
		"LIST=a=b", "LIST=c=d", "broken", "=odd",
		"SWEEP_ID=x", "TASK_ID=x", "TASK_INDEX=x", "ATTEMPT=x", "RESUMED=x", "OUTPUT_DIR=x",
		"WORKER=x", "WORKER_PROCESS=x", "HOST=x", "SLOT=x",
		"PWD=/x", "OLDPWD=/x", "PARAM_GAMMA=7", "DATA=inherited")
	got, twice := environment(t, func(b *task.Batch) {
		b.Recipe.Env = map[string]string{"DATA": "defined", "LANG": "", "NEW": "1"}
	}, inherited, func(o *worker.Options) { o.Home = "/elsewhere" })
	want := map[string]string{
		"HOME": "/home/anna", "USER": "anna", "LOGNAME": "anna2", "LANG": "", "EMPTY": "",
		"LIST": "c=d", "PATH": os.Getenv("PATH"),
		"SWEEP_ID": "train-1", "TASK_ID": "train-1/7", "TASK_INDEX": "7", "ATTEMPT": "3",
		"RESUMED": "0", "WORKER": "w1", "HOST": "gpu1",
		"WORKER_PROCESS": process.Identity(), "SLOT": "0", "PYTHONUNBUFFERED": "1",
		"OUTPUT_DIR": "OUTPUTS/train-1/7", "PWD": "OUTPUTS/train-1/7",
		"OMP_NUM_THREADS": strconv.Itoa(runtime.NumCPU()), "DATA": "defined", "NEW": "1",
	}
	if diff := cmp.Diff(want, got); diff != "" || twice != nil {
		t.Error(diff, twice)
	}
}

func TestVariablePrecedence(t *testing.T) {
	t.Parallel()
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	slots := func(o *worker.Options) { o.Slots = 2 * runtime.NumCPU() }
	for _, c := range []struct {
		name    string
		defined string // NAME=value
		change  func(*worker.Options)
		want    string // NAME=value
	}{
		{"nobody sets a home", "", inherit(), "HOME=" + u.HomeDir},
		{"nobody sets a user", "", inherit(), "USER=" + u.Username},
		{"nobody sets a login name", "", inherit(), "LOGNAME=" + u.Username},
		{"the definition sets a home", "HOME=/d", inherit("HOME=/i"), "HOME=/d"},
		{"more slots than cores", "", slots, "OMP_NUM_THREADS=1"},
		{"threads inherited", "", inherit("OMP_NUM_THREADS=9"), "OMP_NUM_THREADS=9"},
		{"threads defined", "OMP_NUM_THREADS=3", inherit("OMP_NUM_THREADS=9"), "OMP_NUM_THREADS=3"},
		{"the worker's words stay", "TASK_ID=mine", inherit(), "TASK_ID=train-1/7"},
		{"the worker's names stay", "HOST=mine", inherit("HOST=i"), "HOST=gpu1"},
		{"a path for programs", "PATH=/usr/bin:/bin", inherit("PATH=/nowhere"),
			"PATH=/usr/bin:/bin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, twice := environment(t, func(b *task.Batch) {
				if name, value, ok := strings.Cut(c.defined, "="); ok {
					b.Recipe.Env = map[string]string{name: value}
				}
			}, c.change)
			if name, want, _ := strings.Cut(c.want, "="); got[name] != want || twice != nil {
				t.Errorf("%s=%q; want %q; twice: %v", name, got[name], want, twice)
			}
		})
	}
}

func TestHostAndSlotAreReplacedInTheCommandOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch("", 0)
	b.Recipe.Command = []string{"printf", `%s\n`, "{host}-{slot}", "{{host}}"}
	b.Attempts[0].Args = []string{"--text={host} {slot} {{}}", "$HOME `id`"}
	s.send(b)
	s.ended(0, 1)
	if diff := cmp.Diff("gpu1-0\n{host}\n--text={host} {slot} {{}}\n$HOME `id`\n",
		s.file(0, "stdout.log")); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsNeverAppear(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-value"
	s := newSite(t, nil, inherit("KEY="+secret, "SHORT=abc", "OTHER=visible-value"), ownSecrets)
	ctx := t.Context()
	lines := s.queue.Lines(ctx)
	s.tell(task.Control{Kind: task.FollowControl, Sweep: "train-1"})
	s.obeyed()
	b := batch(`printf 'key %s %s %s\n' "$KEY" "$SHORT" "$OTHER"
		printf s3cr >&2; sleep 0.05; printf '3t-value\n' >&2
		printf '{"metrics": {"%s": 1}}\n' "$KEY"`, 0)
	b.Recipe.Secrets = []string{"KEY", "SHORT", "ABSENT"}
	s.send(b)
	o := s.ended(0, 1)
	want := "key ******** abc visible-value\n" + `{"metrics": {"********": 1}}` + "\n"
	if diff := cmp.Diff(want, s.file(0, "stdout.log")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("********\n", s.file(0, "stderr.log")); diff != "" {
		t.Error(diff)
	}
	if len(o.Metrics) != 1 || o.Metrics[0].Name != "********" {
		t.Errorf("metrics: %v", o.Metrics)
	}
	if e := s.seen(task.SamplesEvent, 0, 1); len(e.Samples) != 1 ||
		e.Samples[0].Name != "********" {
		t.Errorf("samples: %v", e.Samples)
	}
	for range 3 {
		if l := <-lines; strings.Contains(l.Text, secret) {
			t.Errorf("line %q", l.Text)
		}
	}
}
