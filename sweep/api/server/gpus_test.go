package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// gpuSubmission is a sweep of n tasks, each of which needs a GPU.
func gpuSubmission(t *testing.T, n int) api.Submission {
	s := submission(t, n)
	s.Record.Recipe.GPUs = task.GPUs{Count: 1}
	return s
}

// What no worker can ever give is refused and not kept; what was accepted stays so.
func TestGPUsThatNoWorkerHas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := t.Context()
	accepted, err := s.client.Submit(ctx, gpuSubmission(t, 1), "key", "")
	s.must(err) // there is no worker yet
	s.hireThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1"}, hold)
	s.until("the worker is there", func() bool {
		all, err := s.client.Workers(ctx)
		s.must(err)
		return len(all) == 1 && all[0].State == core.WorkerReady
	})
	_, err = s.client.Submit(ctx, gpuSubmission(t, 1), "", "")
	want := &api.Error{Status: http.StatusConflict,
		Text:      "each task of train needs 1 GPU, which no worker can ever give: w1: no GPU",
		Remedy:    "change gpus in tasks.yml, or add a worker whose host has such GPUs",
		Parameter: api.NeedsParameter}
	got, refused := errors.AsType[*api.Error](err)
	if !refused {
		t.Fatalf("it is accepted: %v", err)
	}
	if got.Status != want.Status || got.Text != want.Text || got.Remedy != want.Remedy ||
		got.Parameter != want.Parameter {
		t.Errorf("%+v; want %+v", got, want)
	}
	again, err := s.client.Submit(ctx, gpuSubmission(t, 1), "key", "")
	if s.must(err); again.ID != accepted.ID {
		t.Errorf("asked again, %s is %s", accepted.ID, again.ID)
	}
	all, err := s.client.Sweeps(ctx, "", 0)
	if s.must(err); len(all) != 1 {
		t.Errorf("%d sweeps are kept", len(all))
	}
}

// A sweep of which nothing can start for want of GPUs says so wherever it is shown, and to those
// who follow it, until something starts.
func TestASweepThatWaitsForGPUs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gpu := task.GPU{UUID: "GPU-5b3c2a1f-1d1d", Name: "NVIDIA T4", Memory: 16 << 30,
		Unavailable: "busy: ben"}
	s.hireThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1",
		GPUs: []task.GPU{gpu}}, hold)
	made, err := s.client.Submit(t.Context(), gpuSubmission(t, 1), "", "")
	s.must(err)
	const want = "waits for 1 GPU: w1: GPU-5b3c2a1f busy: ben"
	says := func(what string, waits *string) {
		if waits == nil || *waits != want {
			t.Errorf("%s has %v", what, waits)
		}
	}
	follow := func(each func(*string) error) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return s.client.Follow(ctx, made.ID, api.FollowOptions{Detail: api.DetailCounts},
			func(u api.Update) error { return each(u.Sweep.Waits) })
	}
	errTold := errors.New("told")
	if err := follow(func(waits *string) error {
		if waits == nil {
			return nil
		}
		says("a follower", waits)
		return errTold
	}); !errors.Is(err, errTold) {
		t.Fatal(err)
	}
	all, err := s.client.Sweeps(t.Context(), "", 0)
	s.must(err)
	says("the list", all[0].Waits)
	one, err := s.client.Sweep(t.Context(), made.ID, false)
	s.must(err)
	says("the sweep", one.Waits)
	workers, err := s.client.Workers(t.Context())
	s.must(err)
	if diff := cmp.Diff([]task.GPU{gpu}, workers[0].GPUs); diff != "" {
		t.Errorf("its worker: -want +got:\n%s", diff)
	}
	first, waits := true, true
	s.must(follow(func(now *string) error {
		if first {
			says("a late follower", now)
			gpu.UUID, gpu.Unavailable = "GPU-6", ""
			s.hireThat(task.Heartbeat{Worker: "w2", Slots: 1, Incarnation: "1",
				GPUs: []task.GPU{gpu}}, well)
		}
		first, waits = false, now != nil
		return nil
	}))
	if waits {
		t.Error("it has ended, and waits")
	}
}
