package main_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// fate is a way in which attempts of a task begin and end.
type fate struct {
	name  string
	retry task.Retry
	does  func(s *scene, w1, w2 *hand)
	state string
	// listed are the attempts, and where each printed something: "" where it did not begin, as far
	// as anybody knows.
	listed []listed
}

type listed struct {
	number int
	on     string // worker
	says   string // how its line of `show` ends
}

var fates = []fate{
	{name: "never handed out", state: "cancelled", does: func(s *scene, w1, w2 *hand) {
		w1.gets(1)
		s.pauses()
		w1.gives(1)
		_, err := s.client.CancelTask(s.t.Context(), s.id, 0)
		s.must(err)
	}},
	{name: "running", state: "running", listed: []listed{{1, "w1", "on host-w1:0"}},
		does: func(s *scene, w1, w2 *hand) { w1.begins(1) }},
	{name: "ended well", state: "succeeded", listed: []listed{{1, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) { w1.runs(1, task.Success, "") }},
	{name: "failed and retried", state: "succeeded", retry: task.Retry{Error: 1},
		listed: []listed{{1, "w1", ", error: exit code 3"}, {2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.runs(1, task.Error, "exit code 3")
			w1.runs(2, task.Success, "")
		}},
	{name: "failed, and retried by a person", state: "succeeded",
		listed: []listed{{1, "w1", ", error: exit code 3"}, {2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.runs(1, task.Error, "exit code 3")
			s.becomes("failed", 1)
			s.retries()
			w1.runs(2, task.Success, "")
		}},
	{name: "timeout", state: "timeout", retry: task.Retry{Timeout: 1},
		listed: []listed{{1, "w1", ", timeout: ran longer than 1s"}, {2, "w1",
			", timeout: ran longer than 1s"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.runs(1, task.TimedOut, "ran longer than 1s")
			w1.runs(2, task.TimedOut, "ran longer than 1s")
		}},
	{name: "a program that could not begin", state: "failed", listed: []listed{{1, "",
		", error: not started"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			w1.ends(1, task.Error, "not started")
		}},
	{name: "a host that could not run it", state: "succeeded", retry: task.Retry{Lost: 1},
		listed: []listed{{1, "", ", lost: infra: no memory"}, {2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			w1.ends(1, task.Loss, "infra: no memory")
			w2.join()
			w2.runs(2, task.Success, "")
		}},
	{name: "given back before it began", state: "succeeded",
		listed: []listed{{2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			w1.gives(1)
			w1.runs(2, task.Success, "")
		}},
	{name: "killed worker", state: "succeeded", retry: task.Retry{Lost: 1},
		listed: []listed{{1, "w1", ", lost: its worker w1 ended and began anew"},
			{2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			w1.starts("2", true)
			w1.runs(2, task.Success, "")
		}},
	{name: "killed worker, which tells the start when it is back", state: "succeeded",
		retry: task.Retry{Lost: 1},
		listed: []listed{{1, "w1", ", lost: its worker w1 ended and began anew"},
			{2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			w1.starts("2", true, w1.start(1))
			w1.runs(2, task.Success, "")
		}},
	{name: "killed worker, before it began", state: "succeeded",
		listed: []listed{{1, "", "ended and began anew; it had not begun"}, {2, "w1", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			w1.starts("2", true)
			w1.runs(2, task.Success, "")
		}},
	{name: "silent worker", state: "succeeded", retry: task.Retry{Lost: 1},
		listed: []listed{{1, "w1", ", lost: its worker w1 was silent for 1.2s"},
			{2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.loses(w1, w2)
			w2.runs(2, task.Success, "")
		}},
	{name: "silent worker, whose result comes too late", state: "succeeded",
		retry: task.Retry{Lost: 1},
		listed: []listed{{1, "w1", ", success: its worker w1 was silent for 1.2s, superseded"},
			{2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.loses(w1, w2)
			w2.begins(2)
			w1.comesBack()
			w1.ends(1, task.Success, "")
			w2.ends(2, task.Success, "")
		}},
	{name: "a start that may have been", state: "succeeded",
		listed: []listed{{1, "", ", lost: its worker w1 was silent for 1.2s; whether it began is " +
			"not known"}, {2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.gets(1)
			s.loses(w1, w2)
			w2.runs(2, task.Success, "")
		}},
	{name: "a start that may have been, and was", state: "succeeded",
		listed: []listed{{1, "w1", ", success: its worker w1 was silent for 1.2s, superseded"},
			{2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.gets(1)
			s.loses(w1, w2)
			w2.begins(2)
			w1.comesBack()
			w1.emit(w1.event(task.ClaimedEvent, 1), w1.start(1))
			w1.ends(1, task.Success, "")
			w2.ends(2, task.Success, "")
		}},
	{name: "lost for good, and retried by a person", state: "succeeded",
		listed: []listed{{1, "w1", ", lost: its worker w1 was silent for 1.2s"},
			{2, "w2", ", success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.loses(w1, w2)
			s.becomes("lost", 1)
			s.retries()
			w2.runs(2, task.Success, "")
		}},
	{name: "cancelled while it waited on its worker", state: "cancelled",
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			s.cancels()
			w1.gives(1)
		}},
	{name: "cancelled while it ran", state: "cancelled", listed: []listed{{1, "w1",
		", stopped"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.cancels()
			w1.ends(1, task.Stopped, "stopped")
		}},
	{name: "cancelled while it ran, and retried before it stopped", state: "succeeded",
		listed: []listed{{1, "w1", ", stopped"},
			{2, "w1", "found outputs of an earlier attempt, 10ms, success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			retry := []string{"retry", "--quiet", s.id + "/0"}
			if _, stderr, code := s.asks(retry...); code != 2 || !strings.Contains(stderr,
				s.id+"/0 is running\n  only tasks that failed") {
				s.t.Errorf("retried while it runs: exit code %d: %s", code, stderr)
			}
			_, err := s.client.Cancel(s.t.Context(), s.id)
			s.must(err)
			again := s.start(nil, append([]string{"--master", "m.sock"}, retry...)...)
			eventually(s.t, deadline, "the sweep goes on", func() bool {
				sweep, err := s.client.Sweep(s.t.Context(), s.id, false)
				return again.over() || err == nil && sweep.State == core.Open
			})
			w1.ends(1, task.Stopped, "stopped")
			w1.runs(2, task.Success, "")
			if code := again.wait(); code != 0 {
				s.t.Errorf("retried while it is cancelled: exit code %d: %s", code, again.stderr)
			}
		}},
	{name: "cancelled while it ran on a worker that is lost", state: "cancelled",
		retry:  task.Retry{Lost: 1},
		listed: []listed{{1, "w1", ", lost: its worker w1 was silent for 1.2s"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.cancels()
			w1.silent()
		}},
	{name: "cancelled on a worker that is lost, before it began", state: "cancelled",
		listed: []listed{{1, "", "was silent for 1.2s; whether it began is not known"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.claims(1)
			s.cancels()
			w1.silent()
		}},
	{name: "stopped by a pause, and resumed", state: "succeeded",
		listed: []listed{{1, "w1", ", stopped"}, {2, "w1",
			"found outputs of an earlier attempt, 10ms, success"}},
		does: func(s *scene, w1, w2 *hand) {
			w1.begins(1)
			s.becomes("running", 1)
			s.pauses()
			w1.ends(1, task.Stopped, "stopped")
			s.becomes("pending", 1)
			s.resumes()
			w1.runs(2, task.Success, "")
		}},
}

func (s *scene) pauses() {
	s.t.Helper()
	_, err := s.client.Pause(s.t.Context(), s.id, true)
	s.must(err)
}

func (s *scene) resumes() {
	s.t.Helper()
	_, err := s.client.Resume(s.t.Context(), s.id, api.ResumeRequest{}, "")
	s.must(err)
}

func (s *scene) retries() {
	s.t.Helper()
	_, err := s.client.Retry(s.t.Context(), s.id, api.ResumeRequest{}, "")
	s.must(err)
}

func (s *scene) cancels() {
	s.t.Helper()
	_, err := s.client.CancelTask(s.t.Context(), s.id, 0)
	s.must(err)
}

// asks runs a command of the scene's master.
func (s *scene) asks(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	return s.run(append([]string{"--master", "m.sock"}, args...)...)
}

// loses lets one worker fall silent, and another begin.
func (s *scene) loses(silent, next *hand) {
	s.t.Helper()
	silent.silent()
	next.join()
}

// Every command reports the same attempts: as many, and with the same numbers.
func TestAttemptsAddUp(t *testing.T) {
	t.Parallel()
	for _, f := range fates {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w1, w2 := s.worker("w1"), s.unstarted("w2")
			s.submit(f.retry)
			f.does(s, w1, w2)
			s.becomes(f.state, len(f.listed))
			q := question{asks: s.asks, id: s.id + "/0", where: "index=0"}
			agree(t, q, f.listed)
			view, row := s.task(), s.row()
			if n := len(view.Attempts); n != len(f.listed) || view.Row.Attempts != n {
				t.Errorf("the API: %d attempts, and it lists %+v", view.Row.Attempts, view.Attempts)
			}
			shown := "" // of a task that has not begun
			if len(f.listed) > 0 {
				shown = strconv.Itoa(len(f.listed))
			}
			if row["Attempts"] != shown {
				t.Errorf("the monitor: %v", row)
			}
			s.shown(f.listed)
			s.logged(f.listed)
		})
	}
}

// shown holds `show` to what it says of each attempt.
func (s *scene) shown(want []listed) {
	s.t.Helper()
	text, _, _ := s.asks("show", s.id+"/0")
	for _, l := range want {
		line := regexp.MustCompile(`(?m)^attempt ` + strconv.Itoa(l.number) + ` .*$`).FindString(
			text)
		if !strings.HasSuffix(line, l.says) || strings.Contains(line, "handed to") != (l.on == "") {
			s.t.Errorf("show: attempt %d is shown as %q, want %q", l.number, line, l.says)
		}
	}
}

// logged holds `logs --attempt` to the attempts that are listed: it has what each printed, wherever
// that was, and no other.
func (s *scene) logged(want []listed) {
	s.t.Helper()
	for n := 1; n <= 3; n++ {
		i := slices.IndexFunc(want, func(l listed) bool { return l.number == n })
		stdout, stderr, code := s.asks("logs", "--attempt", strconv.Itoa(n), s.id+"/0")
		switch {
		case i < 0:
			if code != 2 || !strings.Contains(stderr, fmt.Sprintf("has no attempt %d: ", n)) {
				s.t.Errorf("logs --attempt %d, which is not listed: exit code %d: %s%s", n, code,
					stdout, stderr)
			}
		case want[i].on == "":
			if code == 0 || stdout != "" {
				s.t.Errorf("logs --attempt %d, which did not begin: exit code %d: %s%s", n, code,
					stdout, stderr)
			}
		case s.hands[want[i].on].away():
			if code != 4 || stdout != "" || !strings.Contains(stderr, "the output is on worker "+
				want[i].on) {
				s.t.Errorf("logs --attempt %d, whose worker is away: exit code %d: %s%s", n, code,
					stdout, stderr)
			}
		case code != 0 || stdout != printedBy(want[i].on, n):
			s.t.Errorf("logs --attempt %d: exit code %d: %s%s; want %q", n, code, stdout, stderr,
				printedBy(want[i].on, n))
		}
	}
}

// The same of a local run whose programs fail, which is killed, and interrupted.
func TestAttemptsOfALocalRunAddUp(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s, retry: {error: 1}", "echo \"attempt $ATTEMPT\"\n"+
		"test $TASK_INDEX = 0 && exit\ntest $TASK_INDEX = 1 && exit $((2 - ATTEMPT))\nuntil test "+
		"-e ../../../go; do sleep 0.02; done\n")
	want := [][]string{{", success"}, {", error: exit code 1", ", success"}, {}, {}}
	holds := func() {
		t.Helper()
		for n, says := range want {
			q := question{asks: f.run, id: fmt.Sprintf("work-1/%d", n),
				where: fmt.Sprintf("index=%d", n)}
			var all []listed
			for n, s := range says {
				all = append(all, listed{number: n + 1, says: s})
			}
			agree(t, q, all)
			shown, _, _ := f.run("show", q.id)
			for n, line := range regexp.MustCompile(`(?m)^attempt .*$`).FindAllString(shown, -1) {
				if n < len(says) && !strings.HasSuffix(line, says[n]) {
					t.Errorf("%s: %q, want %q", q.id, line, says[n])
				}
			}
			for n := 1; n <= len(says)+1; n++ {
				stdout, stderr, code := f.run("logs", "--attempt", strconv.Itoa(n), q.id)
				if there := n <= len(says); there &&
					(code != 0 || stdout != fmt.Sprintf("attempt %d\n", n)) || !there && code != 2 {
					t.Errorf("logs --attempt %d %s: exit code %d: %s%s", n, q.id, code, stdout,
						stderr)
				}
			}
		}
	}
	ends := func(c *call, how string, end func()) {
		t.Helper()
		f.known(2)
		eventually(t, deadline, "the first two tasks have succeeded", func() bool {
			shown, _, _ := f.run("ls", "--json")
			return strings.Contains(shown, `"succeeded":2`)
		})
		end()
		c.wait()
		for n := 2; n < 4; n++ {
			want[n] = append(want[n], how)
		}
		holds()
	}
	c := f.start(nil, "--local", "-d", "p", "--slots", "3", "work")
	ends(c, ", lost: its run was killed", func() { f.killRunner() })
	c = f.start(nil, "resume", "--slots", "3")
	ends(c, ", stopped", func() { f.signal(c, syscall.SIGINT) })
	c = f.start(nil, "resume", "--slots", "3")
	ends(c, ", success", func() { f.write("go", "") })
}
