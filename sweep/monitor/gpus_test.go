package monitor_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// someGPUs are a GPU that a task has half of, one that somebody else uses, and one that failed.
func someGPUs() []task.GPU {
	return []task.GPU{
		{UUID: "GPU-5b3c2a1f-1111-2222-3333-444455556666", Name: "NVIDIA A100-SXM4-80GB",
			Memory: 80 << 30, Used: 20 << 30, Utilization: 97, Given: 0.5},
		{UUID: "MIG-77aa88bb-1111-2222-3333-444455556666", Name: "NVIDIA A100-SXM4-80GB",
			Memory: 10 << 30, Split: true, Unavailable: "busy: ben, python (pid 411), 6.0 GB"},
		{UUID: "GPU-00112233-1111-2222-3333-444455556666", Name: "NVIDIA L4", Given: 1,
			Memory: 24 << 30, Used: -1, Utilization: -1, Unavailable: "it does not answer any more", Broken: true},
	}
}

func TestGPUsOnTheWorkersPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	s.hire("w0", "gpu0", 2, hold)
	s.until("it is ready", func() bool {
		return strings.Contains(v.get("/workers").text, "state-ready")
	})
	lacks(t, v.get("/workers"), "GPUs")
	s.hireWith(someGPUs(), "w1", "gpu1", 2, hold)
	s.until("its GPUs are there", func() bool {
		return strings.Contains(v.get("/workers").text, "GPU-5b3c2a1f")
	})
	has(t, v.get("/workers"), "slots busy; tasks have 1.5 of 3 GPUs.",
		`title="GPU-5b3c2a1f-1111-2222-3333-444455556666">GPU-5b3c2a1f<`,
		`state-tasks">tasks`, `<span class="quiet">0.5 given</span>`, "20 GiB of 80 GiB used", "97 %",
		"MIG-77aa88bb<", `state-busy">busy: ben, python (pid 411), 6.0 GB</span>`,
		"part of NVIDIA A100-SXM4-80GB, 10 GiB<", `state-unfit">it does not answer any more`,
		`<span class="none">not known</span>`, `<p class="wrong">GPU-00112233: it does not answer`,
		"<code>run-tasks workers restart w1</code>")
	if got := cards(v.get("/workers")); fmt.Sprint(got) != "[w1 w0]" {
		t.Errorf("workers in trouble are not the first: %q", got)
	}
	lacks(t, v.get("/workers"), "of 10 GiB used", "of 24 GiB used", "0 %")
	id := s.submit("i: !interval [0, 4]\n", func(r *core.Record) { r.Recipe.GPUs.Count = 0.5 })
	s.becomes(id, "running", 2)
	cell := regexp.MustCompile(`<td title="(?:GPU|MIG)-[-0-9a-f]{36}">` +
		`(GPU-5b3c2a1f|MIG-77aa88bb|GPU-00112233)</td>`)
	for _, path := range []string{"/sweeps/" + id, "/tasks"} {
		s.until("tasks have GPUs on "+path, func() bool {
			return len(cell.FindAllString(v.get(path).text, -1)) == 2
		})
		has(t, v.get(path), `>GPUs</th>`)
	}
	row := regexp.MustCompile(`GPU-5b3c2a1f<(?s:.{0,900}?)<span class="runs"><a href="[^"]*` +
		`/sweeps/` + id + `/tasks/[01]"[^>]*>[^<]*</a> <b>i [01]</b> <span class="quiet">`)
	s.until("a GPU has its task", func() bool { return row.MatchString(v.get("/workers").text) })
}

// What a worker makes up about GPUs fills no page, and breaks none.
func TestGPUsThatAreMadeUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := make([]task.GPU, 1000)
	for i := range made {
		made[i] = task.GPU{UUID: fmt.Sprint(hostile, i), Name: hostile, Used: 1 << 62,
			Memory: 1, Unavailable: hostile}
		if i < task.MaxShownGPUs {
			made[i].Unavailable = strings.Repeat(hostile, 30)
		}
	}
	s.hireWith(made, "w1", "gpu1", 2, well)
	v := s.enter(monitor.Viewer)
	var p page
	s.until("its GPUs are there", func() bool {
		p = v.get("/workers")
		return strings.Contains(p.text, "more GPUs")
	})
	has(t, p, "888 more GPUs: ", "tasks have 0 of 1000 GPUs")
	lacks(t, p, "<script>", "<img", "\x1b", "\u202e")
	if n := len(rows(p)); n != task.MaxShownGPUs {
		t.Errorf("%d lines", n)
	}
	if len(p.text) > 250_000 {
		t.Errorf("the page has %d bytes", len(p.text))
	}
}

// A sweep that waits for GPUs says so, in the list and on its page.
func TestASweepThatWaitsForGPUs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hireWith(someGPUs()[1:2], "w1", "gpu1", 2, hold)
	s.until("its GPUs are known", func() bool {
		all, err := s.master.Workers(t.Context())
		s.must(err)
		return len(all) == 1 && len(all[0].GPUs) == 1
	})
	id := s.submit("i: [1, 2]\n", func(r *core.Record) { r.Recipe.GPUs = task.GPUs{Count: 1} })
	v := s.enter(monitor.Viewer)
	for _, path := range []string{"/sweeps", "/sweeps/" + id} {
		s.until(path+" says what it waits for", func() bool {
			p := v.get(path)
			return strings.Contains(p.text, "waits for 1 GPU: ") &&
				strings.Contains(p.text, "busy: ben, python (pid 411), 6.0 GB")
		})
	}
}
