package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// recordsToList returns records of several kinds: without a revision, images by worker, a priority.
func recordsToList() (all []core.Record) {
	plain, ranked, imaged, old := newRecord(), newRecord(), newRecord(), newRecord()
	ranked.Priority, ranked.Project = -7, `/home/änna/a "project" </x>`
	imaged.Images = core.Images{"z@sha256:1": {"gpu1"}, "a@sha256:2": {"gpu1", "gpu2"},
		"Z": {"gpu3"}}
	old.Recipe.Revision = ""
	return []core.Record{plain, ranked, imaged, old}
}

func addAll(t *testing.T, s *store.Store, records []core.Record) {
	t.Helper()
	for i, r := range records {
		n := store.NewSweep{Record: r, Total: 9, Submitted: at(float64(i))}
		if _, err := s.Add(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}

// summaries returns those of all records, the oldest first.
func summaries(t *testing.T, r *store.Reader) (all []core.Summary) {
	t.Helper()
	sweeps, err := r.Sweeps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sweeps {
		all = append([]core.Summary{s.Record.Summary(s.Head)}, all...)
	}
	return all
}

func list(t *testing.T, r *store.Reader, after string, limit int) (all []core.Summary) {
	t.Helper()
	listed, err := r.List(t.Context(), after, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		all = append(all, l.Summary())
	}
	return all
}

// TestList holds lists to what the records say, also after they were rewritten.
func TestList(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	addAll(t, s, recordsToList())
	differs(t, "new", summaries(t, &s.Reader), list(t, &s.Reader, "", 0))

	sw, err := s.Sweep(t.Context(), "train-2")
	if err != nil {
		t.Fatal(err)
	}
	sw.Record.Recipe.Revision, sw.Record.Priority = "r2", 3
	rows := rowsOf(sw, core.Changes{})
	rows.Sweeps[0].Rewrite = true
	if err := s.Commit(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	h := sw.Head
	h.State, h.Reason, h.Ended, h.UnissuedCancelled = core.Cancelled, "enough", at(90), true
	sw.Record.Images = core.Images{"new": {"gpu1"}}
	rows = rowsOf(sw, core.Changes{Head: h})
	rows.Sweeps[0].Rewrite = true
	if err := s.Commit(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	all := summaries(t, &s.Reader)
	if all[1].Revision != "r2" || all[1].Images[0] != "new" || *all[1].Reason != "enough" {
		t.Errorf("the record was not rewritten: %+v", all[1])
	}
	differs(t, "rewritten", all, list(t, &s.Reader, "", 0))
	head, err := s.Head(t.Context(), "train-2")
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "head", h, head)

	for after, n := range map[string]int{"": 0, "train-1": 1, "train-3": 3, "train-4": 4} {
		for limit := range 6 {
			want := all[n:]
			if limit > 0 {
				want = want[:min(limit, len(want))]
			}
			got := list(t, &s.Reader, after, limit)
			if len(got)+len(want) > 0 {
				differs(t, "page after "+after, want, got)
			}
		}
	}
	_, err = s.List(t.Context(), "train-9", 1)
	if e, ok := errors.AsType[*store.UnknownSweep](err); !ok || e.ID != "train-9" {
		t.Errorf("after a sweep that is not there: %v", err)
	}
	_, err = s.Head(t.Context(), "trian-1")
	if !says(err, "train-1?") {
		t.Errorf("the head of a sweep that is not there: %v", err)
	}
}

// TestListWithADamagedSweep shows the others, and of that one why it cannot be read.
func TestListWithADamagedSweep(t *testing.T) {
	t.Parallel()
	const outline = "what is listed of the sweep's record is damaged: "
	for name, test := range map[string]struct{ damage, want string }{
		"counts":             {`counts = '[0,'`, "the sweep's counts of tasks are damaged: "},
		"outline":            {`outline = '{'`, outline},
		"outline, a list":    {`outline = '[]'`, outline},
		"record is not read": {`record = '{"spa'`, "paused by anna"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s, err := store.Open(t.Context(), folder, "test")
			if err != nil {
				t.Fatal(err)
			}
			addAll(t, s, recordsToList())
			err = s.Exec(`UPDATE sweeps SET reason = 'paused by anna', ` + test.damage +
				` WHERE id = 'train-2'`)
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			check := func(r *store.Reader) {
				t.Helper()
				all := list(t, r, "", 0)
				if len(all) != 4 || all[1].ID != "train-2" || all[2].Images[0] != "Z" {
					t.Fatalf("listed: %+v", all)
				}
				if !strings.HasPrefix(*all[1].Reason, test.want) {
					t.Errorf("the reason is %q, want %q", *all[1].Reason, test.want)
				}
			}
			check(reader(t, folder))
			if s, err = store.Open(t.Context(), folder, "test"); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			check(&s.Reader)
		})
	}
}

// TestCurrent lists what has not ended and the newest that have, by one look at the store.
func TestCurrent(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	addAll(t, s, recordsToList())
	all, err := s.Sweeps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	for _, n := range []int{0, 2, 3} {
		all[n].Head.State, all[n].Head.Ended = core.Finished, at(9)
		commit(t, s, all[n], core.Changes{Head: all[n].Head})
	}
	for maxEnded, want := range map[int][]int{0: {1}, 1: {1, 3}, 2: {1, 2, 3}, 9: {0, 1, 2, 3}} {
		listed, err := s.Current(t.Context(), maxEnded)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, l := range listed {
			got = append(got, int(l.Seq-all[0].Seq))
		}
		if !slices.Equal(got, want) {
			t.Errorf("with at most %d that have ended: %v; want %v", maxEnded, got, want)
		}
	}
}
