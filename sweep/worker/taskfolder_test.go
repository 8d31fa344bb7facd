package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

var project = map[string]string{
	"train.py": "print(1)", "data/x.csv": "1,2", "a b": "", "-n": "", "übung": "", ".hidden": "",
	"result/old": "", "results/": "", "run/": "", "runs/": "", "log": "", "logs/": "",
	"checkpoint": "", "checkpoints/": "",
	"output/": "", "outputs/": "", "stdout.log": "old", "stderr.log": "old", "weights/": "",
	"myresult/": "",
}

func TestATaskHasACopyOfTheProjectWithEmptyOutputs(t *testing.T) {
	t.Parallel()
	s := newSite(t, project)
	b := batch(`for name in * .hidden; do
			test -L "$name" && kind=link || kind=file
			test -d "$name" && kind="folder of $(ls "$name" | wc -l)"
			printf '%s: %s\n' "$name" "$kind"
		done
		cat data/x.csv
		echo 1 > result/acc; echo mine >> train.py; echo new > data/y; rm ./-n
		echo 2 > weights/w`, 0)
	b.Recipe.Outputs = []string{"weights", "data.out"}
	s.send(b)
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Fatalf("%+v: %s", o, s.file(0, "stderr.log"))
	}
	want := "-n: file\na b: file\ncheckpoints: folder of 0\ndata: folder of 1\nlogs: folder of " +
		"0\nmyresult: folder of 0\n" +
		"output: folder of 0\noutputs: folder of 0\nresult: folder of 0\nresults: folder of " +
		"0\nrun: folder of 0\nruns: folder of 0\n" +
		"parameters.json: file\nstdout.log: file\ntrain.py: file\nweights: folder of 0\nübung: " +
		"file\n.hidden: file\n1,2"
	got := strings.Split(s.file(0, "stdout.log"), "\n")
	slices.Sort(got[:len(got)-1]) // as a locale has it
	sorted := strings.Split(want, "\n")
	slices.Sort(sorted[:len(sorted)-1])
	if diff := cmp.Diff(sorted, got); diff != "" {
		t.Error(diff)
	}
	left := []string{"data", "parameters.json", "result", "stdout.log", "train.py", "weights"}
	if diff := cmp.Diff(left, s.names(0)); diff != "" {
		t.Error(diff)
	}
	if got := s.file(0, "train.py"); got != "print(1)mine\n" {
		t.Errorf("%q", got)
	}
	if data, err := os.ReadFile(filepath.Join(s.base, "revisions/r1/train.py")); err != nil ||
		string(data) != "print(1)" {
		t.Errorf("%q of the snapshot, %v", data, err)
	}
}

func TestLinksLeadRightWhenOutputsOrRevisionsLieBehindALink(t *testing.T) {
	t.Parallel()
	for _, behind := range []string{"outputs", "revisions"} {
		t.Run(behind, func(t *testing.T) {
			t.Parallel()
			disk := filepath.Join(t.TempDir(), "a", "b", "c", "d")
			s := newSite(t, project, func(o *worker.Options) {
				path := filepath.Join(filepath.Dir(o.Outputs), behind)
				if err := os.MkdirAll(disk, 0o755); err != nil {
					t.Fatal(err)
				}
				if behind == "revisions" {
					if out, err := exec.Command("sh", "-c", "mv \"$0\"/* \"$1\" && rmdir \"$0\"",
						path, disk).CombinedOutput(); err != nil {
						t.Fatal(string(out), err)
					}
				}
				if err := os.Symlink(disk, path); err != nil {
					t.Fatal(err)
				}
			})
			if o := s.run("cat data/x.csv"); o.Class != task.Success {
				t.Errorf("%+v: %s", o, s.file(0, "stderr.log"))
			}
		})
	}
}

// A worker that is killed while it renames what an attempt printed does not take that for what
// another one did.
func TestOutputThatWasRenamedInPart(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.run("echo out1; echo err1 >&2")
	s.stop()
	s.must(os.Rename(s.path(0, "stderr.log"), s.path(0, "stderr.1.log")))
	s.start(s.queue.Worker("w1"))
	b := batch("echo out3; echo err3 >&2", 0)
	b.Attempts[0].Number = 3
	s.send(b)
	s.ended(0, 3)
	got := map[string]string{}
	for _, name := range s.names(0) {
		if strings.HasPrefix(name, "std") {
			got[name] = s.file(0, name)
		}
	}
	want := map[string]string{"stdout.1.log": "out1\n", "stderr.1.log": "err1\n",
		"stdout.log": "out3\n", "stderr.log": "err3\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestASecondAttemptGoesOnInTheDirectoryOfTheFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t, with(project, "config", "of r1"))
	s.revision("r2", map[string]string{"train.py": "print(2)", "data/x.csv": "3,4",
		"config": "of r2", "new": "", "own": "of r2"})
	first := batch(`echo first; echo err >&2; echo $RESUMED; echo 7 > result/checkpoint
		rm config; echo mine > config; ln -s result/checkpoint own`, 0)
	s.send(first)
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Fatal(o, s.file(0, "stderr.log"))
	}
	second := batch(`cat result/checkpoint data/x.csv train.py config own
		echo $RESUMED; echo err2 >&2`, 0)
	second.Recipe.Revision, second.Attempts[0].Number = "r2", 2
	s.send(second)
	if o := s.ended(0, 2); o.Class != task.Success {
		t.Fatal(o, s.file(0, "stderr.log"))
	}
	got := map[string]string{}
	for _, name := range []string{"stdout.1.log", "stderr.1.log", "stdout.log", "stderr.log"} {
		got[name] = s.file(0, name)
	}
	want := map[string]string{
		"stdout.1.log": "first\n0\n", "stderr.1.log": "err\n",
		"stdout.log": "7\n3,4print(2)mine\n7\n1\n", "stderr.log": "err2\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	started := s.seen(task.StartedEvent, 0, 2).Start
	if diff := cmp.Diff(&task.Start{Host: "gpu1", Resumed: true}, started); diff != "" {
		t.Error(diff)
	}
}

func TestLogsOfOneAttemptGetTheSameNumber(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch("echo old; echo old >&2; touch stderr.1.log stdout.2.log", 0)
	s.send(b)
	s.ended(0, 1)
	b.Attempts[0].Number = 2
	s.send(b)
	s.ended(0, 2)
	want := []string{".attempt", "parameters.json", "stderr.1.log", "stderr.3.log", "stderr.log",
		"stdout.2.log", "stdout.3.log", "stdout.log"}
	if diff := cmp.Diff(want, s.names(0)); diff != "" {
		t.Error(diff)
	}
	if got := s.file(0, "stdout.3.log"); got != "old\n" {
		t.Errorf("%q", got)
	}
}

func TestASweepFolderThatWasRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, project)
	s.run("true")
	s.must(os.RemoveAll(filepath.Join(s.outputs, "train-1")))
	s.send(batch("cat data/x.csv", 1))
	if o := s.ended(1, 1); o.Class != task.Success {
		t.Error(o)
	}
}

func TestNothingOfAnAttemptIsForOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.run("echo >&2")
	for _, name := range []string{"..", "", "stdout.log", "stderr.log"} {
		info, err := os.Stat(s.path(0, name))
		s.must(err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
}

func TestMissingHostFileIsLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*site)
		batch   func(*task.Batch)
		reason  string
	}{
		{"revision missing", nil, func(b *task.Batch) { b.Recipe.Revision = "gone" },
			"revisions/gone: no such file"},
		{"a file where outputs should be", func(s *site) {
			s.must(os.WriteFile(s.outputs, nil,
				0o600))
		}, nil, "not a directory"},
		{"a file where the task's directory should be", func(s *site) {
			s.must(os.MkdirAll(filepath.Dir(s.path(0, "")), 0o700))
			s.must(os.WriteFile(s.path(0, "")[:len(s.path(0, ""))], nil, 0o600))
		}, nil, "not a directory"},
		{"a sweep's name that leads out", nil, func(b *task.Batch) { b.Sweep = "../x" },
			`"../x" is not a valid folder name`},
		{"a revision's name that leads out", nil, func(b *task.Batch) { b.Recipe.Revision = ".." },
			`".." is not a valid folder name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, project)
			if c.prepare != nil {
				c.prepare(s)
			}
			b := batch("true", 0)
			if c.batch != nil {
				c.batch(&b)
			}
			s.send(b)
			o := s.ended(0, 1)
			if o.Class != task.Loss || !strings.HasPrefix(o.Reason, "infra: ") ||
				!strings.Contains(o.Reason, c.reason) || o.ExitCode != nil {
				t.Errorf("%+v; want %q", o, c.reason)
			}
			if diff := cmp.Diff([]string{"claimed 0/1", "ended 0/1"},
				kinds(s.soFar())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidPathRulesAreDefinitionFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		batch func(*task.Batch)
		want  string
	}{
		{"links", func(b *task.Batch) {
			b.Recipe.Links = map[string]string{"b": "/nowhere/b",
				"a": "/nowhere/a"}
		},
			`not started on gpu1: links: a leads to /nowhere/a: no such file or directory: ` +
				`make it, or mount it into the ` +
				`containers of tasks with volumes: ["/nowhere/a:/nowhere/a:ro"] ` +
				`and infrainit -f; ` +
				`links: b leads to /nowhere/b: no such file or directory: ` +
				`make it, or mount it into the ` +
				`containers of tasks with volumes: ["/nowhere/b:/nowhere/b:ro"] and infrainit -f`},
		{"workdir", func(b *task.Batch) { b.Recipe.Workdir = "nowhere" },
			"not started on gpu1: workdir: nowhere: the project has no such folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, project)
			b := batch("true", 0, 1, 2, 3) // more than a host may fail at in a row
			c.batch(&b)
			s.send(b)
			for i := range int64(4) {
				want := task.Outcome{Class: task.Error, Reason: c.want}
				if diff := cmp.Diff(want, s.ended(i, 1)); diff != "" {
					t.Error(diff)
				}
			}
			s.send(batch("true", 4)) // of another sweep's definition
			if o := s.ended(4, 1); o.Class != task.Success {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestFailedPreparationIsRetriedWithNextBatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch("true", 0)
	b.Recipe.Revision = "late"
	s.send(b)
	if o := s.ended(0, 1); o.Class != task.Loss {
		t.Fatal(o)
	}
	s.revision("late", nil)
	b.Attempts[0].Number = 2
	s.send(b)
	if o := s.ended(0, 2); o.Class != task.Success {
		t.Error(o)
	}
}
