package server_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// The images that a sweep ran in are what its workers said, and what counts when it is asked what
// is missing: the digest, not the name.
func TestImages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const first, moved, renamed = "python:3.12@sha256:1", "python:3.12@sha256:2", "ours:1@sha256:2"
	work := func(image, incarnation string) *hand {
		t.Helper()
		h := s.hireThat(
			task.Heartbeat{Worker: "w1", Slots: 4, Incarnation: incarnation,
				Image: image, Environment: "made so"},
			well,
		)
		s.until("the master knows it", func() bool {
			all, err := s.client.Workers(t.Context())
			s.must(err)
			return len(all) == 1 &&
				(all[0].Image == nil && image == "" || all[0].Image != nil &&
					*all[0].Image == image)
		})
		return h
	}
	missing := func(what string, want int64) {
		t.Helper()
		m, err := s.client.Missing(t.Context(), submission(t, 3).Record, "c1")
		s.must(err)
		n := m.Ranges.Len()
		if m.All {
			n = 3
		}
		if n != want {
			t.Errorf("%s: %d are missing, not %d: %+v", what, n, want, m)
		}
	}
	in := func(id string, want core.Images) {
		t.Helper()
		view, err := s.client.Sweep(t.Context(), id, false)
		s.must(err)
		if diff := cmp.Diff(want, view.Record.Images); diff != "" {
			t.Errorf("%s ran in (-want +got)\n%s", id, diff)
		}
		if diff := cmp.Diff(append([]string{}, want.Names()...), view.Images); diff != "" {
			t.Errorf("%s ran in (-want +got)\n%s", id, diff)
		}
	}

	id := s.submit(2)
	in(id, nil)
	h := work(first, "1")
	s.becomes(id, map[string]int64{"succeeded": 2})
	in(id, core.Images{first: {"w1"}})
	missing("in the same image", 1)
	h.fire()
	h = work(moved, "2")
	missing("under the same name, with another digest", 3)
	by := api.Extension{Space: submission(t, 3).Record.Space}
	if _, err := begin(s.client.Extend(t.Context(), id, by, "")); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, map[string]int64{"succeeded": 3})
	s.again()
	in(id, core.Images{first: {"w1"}, moved: {"w1"}})
	missing("after a sweep in two images on one worker", 3)
	again := s.submit(3)
	s.becomes(again, map[string]int64{"succeeded": 3})
	h.fire()
	h = work(renamed, "3")
	missing("under another name, with the same digest", 0)
	h.fire()
	work("", "4")
	missing("without a container", 3)

	sub := submission(t, 1)
	sub.Record.Images = core.Images{first: {"w1"}}
	_, err := s.client.Submit(t.Context(), sub, "", "")
	if e, ok := err.(*api.Error); !ok || e.Status != http.StatusBadRequest ||
		e.Parameter != "record.images" {
		t.Errorf("a client says what will run: %v", err)
	}
}
