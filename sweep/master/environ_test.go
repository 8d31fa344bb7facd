package master_test

import (
	"errors"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
)

// Only a master with Local takes an environment: another's workers have their own.
func TestAnEnvironmentIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := record(t, 1)
	_, err := s.master.Submit(t.Context(), master.Submission{
		Submission: api.Submission{Record: r, Environ: []string{"A=b"}}})
	if !errors.Is(err, core.ErrEnviron) {
		t.Errorf("submit: %v", err)
	}
	id := s.submit(1)
	if err := s.master.Resume(t.Context(), id,
		api.Continuation{Environ: []string{"A=b"}}); !errors.Is(err, core.ErrEnviron) {
		t.Errorf("resume: %v", err)
	}
}
