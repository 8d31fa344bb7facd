package server_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// ended is a site with a sweep of 10 tasks, of which 7 failed and the others succeeded, and one
// that waits.
func ended(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.hire("w1", 2, func(g given) *task.Outcome {
		if g.sweep == "train-1" && g.Index == 7 {
			return badly(g)
		}
		return well(g)
	})
	s.becomes(s.submit(10), map[string]int64{"succeeded": 9, "failed": 1})
	return s
}

func indexes(rows []table.Row) (all []int64) {
	for _, r := range rows {
		all = append(all, r.Index)
	}
	return all
}

func TestTasksArePaged(t *testing.T) {
	t.Parallel()
	s := ended(t)
	for name, c := range map[string]struct {
		q    api.Query
		want []int64
	}{
		"all":            {api.Query{}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"of a state":     {api.Query{States: []task.State{task.Failed, task.Lost}}, []int64{7}},
		"filtered":       {api.Query{Where: "i>=8 or state=failed"}, []int64{7, 8, 9}},
		"sorted":         {api.Query{Sort: "-i", Top: 4}, []int64{9, 8, 7, 6}},
		"ranked":         {api.Query{Best: true}, []int64{9, 8, 6, 5, 4, 3, 2, 1, 0, 7}},
		"the best":       {api.Query{Best: true, Top: 3}, []int64{9, 8, 6}},
		"best, filtered": {api.Query{Best: true, Where: "i<3"}, []int64{2, 1, 0}},
		"none":           {api.Query{States: []task.State{task.Pending}}, nil},
	} {
		for _, limit := range []int{0, 1, 3} {
			var got []int64
			c.q.Limit, c.q.After = limit, ""
			for pages := 0; ; pages++ {
				page, err := s.client.Tasks(t.Context(), "train-1", c.q)
				s.must(err)
				got = append(got, indexes(page.Tasks)...)
				if c.q.After = page.Next; page.Next == "" {
					break
				}
				if limit > 0 && len(page.Tasks) != limit || pages > 10 {
					t.Fatalf("%s: a page of %d, and there is another", name, len(page.Tasks))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, by %d: %s", name, limit, diff)
			}
		}
	}
}

// Tasks that were never handed out have no row in the store, and are there.
func TestTasksThatWait(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sub := submission(t, 10)
	sub.Record.Ranges = core.Ranges{{From: 1, To: 3}, {From: 6, To: 9}}
	made, err := s.client.Submit(t.Context(), sub, "", "")
	s.must(err)
	if _, err := s.client.CancelTask(t.Context(), made.ID, 7); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string][]int64{"": {1, 2, 6, 7, 8}, "2": {2, 6, 7, 8},
		"4": {6, 7, 8}, "8": {8}, "9": nil} {
		page, err := s.client.Tasks(t.Context(), "", api.Query{After: after})
		s.must(err)
		if diff := cmp.Diff(want, indexes(page.Tasks)); diff != "" {
			t.Errorf("after %q: %s", after, diff)
		}
	}
	page, err := s.client.Tasks(t.Context(), "",
		api.Query{States: []task.State{task.Pending}, Limit: 3})
	s.must(err)
	if diff := cmp.Diff([]int64{1, 2, 6}, indexes(page.Tasks)); diff != "" || page.Next != "8" {
		t.Errorf("next %s: %s", page.Next, diff)
	}
	page, err = s.client.Tasks(t.Context(), "", api.Query{Issued: true})
	s.must(err)
	if diff := cmp.Diff([]int64{7}, indexes(page.Tasks)); diff != "" {
		t.Error(diff)
	}
}

// A client answers what the archive does.
func TestTheClientSaysWhatTheStoreSays(t *testing.T) {
	t.Parallel()
	s := ended(t)
	s.submit(1)
	s.becomes("train-2", map[string]int64{"succeeded": 1})
	ctx, a := t.Context(), &listing.Archive{Store: &s.store.Reader}
	compare := func(what string, local, remote any, e1, e2 error) {
		t.Helper()
		s.must(e1)
		s.must(e2)
		if diff := cmp.Diff(local, remote, cmpopts.EquateEmpty(), cmp.AllowUnexported(),
			cmpopts.IgnoreFields(core.Record{}, "Space"), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-store +client):\n%s", what, diff)
		}
	}
	for _, id := range []string{"", "train-1"} {
		local, e1 := a.Sweep(ctx, id, true)
		remote, e2 := s.client.Sweep(ctx, id, true)
		compare("sweep "+id, local, remote, e1, e2)
		if got := remote.Record.Space.Len(); got != remote.Total {
			t.Errorf("a space of %d points for %d tasks", got, remote.Total)
		}
	}
	for _, after := range []string{"", "train-1"} {
		local, e1 := a.Sweeps(ctx, after, 1)
		remote, e2 := s.client.Sweeps(ctx, after, 1)
		compare("sweeps after "+after, local, remote, e1, e2)
		if len(remote) != 1 {
			t.Errorf("%d sweeps", len(remote))
		}
	}
	for _, index := range []int64{0, 7} {
		local, e1 := a.Task(ctx, "train-1", index)
		remote, e2 := s.client.Task(ctx, "train-1", index)
		compare("task", local, remote, e1, e2)
		if len(remote.Attempts) != 1 || *remote.Attempts[0].ExitCode != 3 && index == 7 {
			t.Errorf("%+v", remote)
		}
	}
	for _, f := range []api.Format{api.JSON, api.CSV} {
		var local, remote bytes.Buffer
		q := api.Query{Where: "i<9", Sort: "-accuracy", Top: 5}
		e1, e2 := a.Results(ctx, "train-1", q, f, &local), s.client.Results(ctx, "train-1", q, f,
			&remote)
		compare(string(f), local.String(), remote.String(), e1, e2)
	}
	var rows []table.Row
	s.must(s.client.Rows(ctx, "train-1", api.Query{Best: true},
		func(r *table.Row) error { rows = append(rows, *r); return nil }))
	if len(rows) != 10 || rows[9].Index != 7 {
		t.Errorf("rows %v", indexes(rows))
	}
	sub := submission(t, 12)
	local, e1 := a.Missing(ctx, sub.Record, "c1")
	remote, e2 := s.client.Missing(ctx, sub.Record, "c1")
	compare("missing", local, remote, e1, e2)
	if diff := cmp.Diff(core.Ranges{{From: 7, To: 8}, {From: 10, To: 12}},
		remote.Ranges); diff != "" ||
		remote.All {
		t.Error(diff)
	}
}

// What succeeded at the revision of a record is not missing, whatever is named as its code; at
// another revision it is.
func TestMissingOfOneRevision(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 4, well)
	s.becomes(s.submit(3), map[string]int64{"succeeded": 3})
	for _, k := range []struct {
		revision, code string
		missing        int64
	}{
		{"r1", "c1", 0}, {"r1", "r1", 0}, {"r2", "c1", 0}, {"r2", "r2", 3},
	} {
		sub := submission(t, 3)
		sub.Record.Recipe.Revision = k.revision
		m, err := s.client.Missing(t.Context(), sub.Record, k.code)
		s.must(err)
		n := m.Ranges.Len()
		if m.All {
			n = 3
		}
		if n != k.missing {
			t.Errorf("revision %s with code %s: %d are missing, not %d", k.revision, k.code, n,
				k.missing)
		}
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, c := t.Context(), s.client
	s.until("it is ready", func() bool { // not while the machine stands still for seconds
		r, err := c.Ready(ctx)
		return err == nil && r.Ready && len(r.Reasons) == 0
	})
	s.queue.Outage(true)
	if r, err := c.Ready(ctx); err != nil || r.Ready || len(r.Reasons) != 1 ||
		r.Reasons[0].What != "broker" ||
		r.Reasons[0].Since == nil {
		t.Errorf("in an outage: %+v, %v", r, err)
	}
	if status, _, _ := s.raw("GET", "/v1/ready", ""); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	b, err := c.Broker(ctx)
	if s.must(err); !b.Unreachable || b.Reason == nil || *b.Revisions != "/revisions" ||
		b.Blocked != nil {
		t.Errorf("%+v", b)
	}
	s.queue.Outage(false)
	s.until("it is ready again", func() bool {
		r, err := c.Ready(ctx)
		return err == nil && r.Ready
	})
	h, err := c.Health(ctx)
	if diff := cmp.Diff(api.Health{Up: true, Program: "1.2", Version: task.Version,
		Warnings: []api.Reason{}}, h); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestWorkers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w2", 3, well)
	s.hire("w1", 1, well)
	var names []string
	s.until("two workers", func() bool {
		all, err := s.client.Workers(t.Context())
		s.must(err)
		names = nil
		for _, w := range all {
			names = append(names, w.Name+" "+w.State)
		}
		return slices.Equal(names, []string{"w1 ready", "w2 ready"})
	})
	if w, err := s.client.Drain(t.Context(), "w1", false); err != nil || w.State != "draining" {
		t.Errorf("%+v, %v", w, err)
	}
	for _, off := range []bool{false, true} { // a person's drain stays
		w, err := s.client.DrainFor(t.Context(), core.ForReplacement, "w1", off)
		if err != nil || w.State != "draining" || w.DrainedFor != nil {
			t.Errorf("off: %v: %+v, %v", off, w, err)
		}
	}
	if w, err := s.client.Drain(t.Context(), "w1", true); err != nil || w.Name != "w1" {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := s.client.Resize(t.Context(), "w2", 5); err != nil || w.Wanted == nil ||
		*w.Wanted != 5 {
		t.Errorf("%+v, %v", w, err)
	}
	if err := s.client.Forget(t.Context(), "w1"); err == nil ||
		!strings.HasPrefix(err.Error(), "w1 is ") {
		t.Errorf("%v", err)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, hold)
	id := s.submit(1)
	g := h.has(1)[0]
	s.becomes(id, map[string]int64{"running": 1})
	read := func(attempt int, stderr bool, offset int64, follow bool) (string, error) {
		var text strings.Builder
		err := s.client.Output(t.Context(), task.ID{Sweep: id},
			api.OutputOptions{Attempt: attempt, Stderr: stderr, Offset: offset,
				Follow: follow}, &text)
		return text.String(), err
	}
	if text, err := read(0, false, 0, false); err == nil ||
		err.Error() != "train-1/0 has printed nothing to standard output" {
		t.Errorf("%q, %v", text, err)
	}
	long := strings.Repeat("0123456789abcde\n", 1<<16) // many pieces
	h.prints(long)
	if text, err := read(0, false, 0, false); err != nil || text != long {
		t.Errorf("%d bytes of %d, %v", len(text), len(long), err)
	}
	if text, err := read(0, false, int64(len(long))-4, false); err != nil || text != "cde\n" {
		t.Errorf("%q, %v", text, err)
	}
	for n, want := range map[int]int64{4: int64(len(long)) - 4, len(long): 0, 2 * len(long): 0} {
		text, offset, err := s.client.OutputTail(t.Context(), task.ID{Sweep: id},
			api.OutputOptions{}, n)
		if err != nil || offset != want || string(text) != long[want:] {
			t.Errorf("the last %d: %d bytes from %d, %v", n, len(text), offset, err)
		}
	}
	if _, _, err := s.client.OutputTail(t.Context(), task.ID{Sweep: id},
		api.OutputOptions{Stderr: true}, 4); err == nil ||
		!strings.Contains(err.Error(), "nothing to standard error") {
		t.Errorf("%v", err)
	}
	body, end := io.Pipe()
	go func() {
		end.CloseWithError(
			s.client.Output(t.Context(), task.ID{Sweep: id},
				api.OutputOptions{Offset: int64(len(long)), Follow: true}, end),
		)
	}()
	defer body.Close()
	h.prints("more\n")
	piece := make([]byte, 5)
	if _, err := io.ReadFull(body, piece); err != nil || string(piece) != "more\n" {
		t.Errorf("followed: %q, %v", piece, err)
	}
	h.prints("last\n")
	h.ends(g, well(g))
	if rest, err := io.ReadAll(body); err != nil || string(rest) != "last\n" {
		t.Errorf("followed to the end: %q, %v", rest, err)
	}
	if _, err := read(0, true, 0, true); err == nil ||
		!strings.Contains(err.Error(), "nothing to standard error") {
		t.Errorf("%v", err)
	}
}
