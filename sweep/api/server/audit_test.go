package server_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/secret"
)

// done is actions in short: "ann retry sweep train-1 tasks=1 done".
func done(all []core.AuditEntry) (short []string) {
	for _, a := range all {
		text := fmt.Sprintf("%s %s %s %s %s %s", a.User, a.Action, a.Kind, a.Object, a.Detail,
			a.Outcome)
		if a.Reason != nil {
			text += ": " + *a.Reason
		}
		short = append(short, strings.Join(strings.Fields(text), " "))
	}
	return short
}

func TestWhatPeopleDoIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 2, hold)
	ctx := t.Context()
	begin := time.Now().Add(-time.Second)
	id := s.submit(3)
	s.becomes(id, map[string]int64{"running": 3})
	for _, do := range []func() error{
		func() error { _, err := s.client.Submit(ctx, submission(t, 1), "k", ""); return err },
		// a repetition
		func() error { _, err := s.client.Submit(ctx, submission(t, 1), "k", ""); return err },
		func() error { _, err := s.client.Pause(ctx, api.Newest, true); return err },
		func() error {
			_, err := s.client.Resume(ctx, id,
				api.ResumeRequest{Continuation: api.Continuation{Revision: "r2"}}, "")
			return err
		},
		func() error { _, err := s.client.CancelTask(ctx, id, 2); return err },
		func() error { _, err := s.client.Prioritize(ctx, id, 4); return err },
		func() error { _, err := s.client.Drain(ctx, "w1", false); return err },
		func() error { _, err := s.client.Resize(ctx, "w1", 4); return err },
		func() error { _, err := s.client.Cancel(ctx, id); return err },
	} {
		s.must(do())
	}
	if _, err := s.client.Retry(ctx, id, api.ResumeRequest{Indexes: []int64{99}},
		""); err == nil {
		t.Error("a retry of what there is not")
	}
	if _, err := s.client.Cancel(ctx, "none-1"); err == nil {
		t.Error("a cancel of what there is not")
	}
	if err := s.client.Forget(ctx, "w1"); err == nil {
		t.Error("a worker that is there is forgotten")
	}
	if status, text, _ := s.raw(http.MethodPost, "/v1/sweeps", `{"record": 7}`, "User",
		"eve"); status != http.StatusBadRequest {
		t.Error(status, text)
	}
	if _, err := s.client.Missing(ctx, submission(t, 1).Record, "c1"); err != nil { // a question
		t.Error(err)
	}
	want := []string{
		"ann forget worker w1 refused: w1 is draining; stop it first; one that was stopped is away",
		"ann cancel sweep none-1 refused: there is no sweep none-1",
		"ann retry sweep train-1 tasks=1 refused: train-1 has no task 99: it has 3",
		"ann cancel sweep train-1 done",
		"ann slots worker w1 n=4 done",
		"ann drain worker w1 done",
		"ann priority sweep train-1 n=4 done",
		"ann cancel task train-1/2 done",
		"ann resume sweep train-1 revision=r2 done",
		"ann pause sweep train-2 stop=true done",
		"ann submit sweep train-2 done",
		"ann submit sweep train-1 done",
	}
	var page api.AuditPage
	s.until(
		"all are kept",
		func() (all bool) { // one that had no idempotency key may be kept behind its answer
			var err error
			page, err = s.client.Audit(ctx, api.AuditQuery{})
			s.must(err)
			page.Actions = slices.DeleteFunc(page.Actions, func(a core.AuditEntry) bool {
				return a.User == "master" // that w1 joined
			})
			return len(page.Actions) > len(want)
		},
	)
	if first := done(page.Actions[:1])[0]; !strings.HasPrefix(first,
		`eve submit sweep refused: cannot parse the body`) {
		t.Errorf("%q", first)
	}
	if diff := cmp.Diff(want, done(page.Actions[1:])); diff != "" || page.Next != "" {
		t.Error(diff, page.Next)
	}
	for _, a := range page.Actions {
		if a.UID == nil || *a.UID != os.Getuid() || a.Time.Before(begin) ||
			a.Time.After(time.Now()) ||
			a.Time.Location() != time.UTC {
			t.Errorf("%+v", a)
		}
	}
	s.again()
	of, err := s.client.Audit(ctx, api.AuditQuery{Object: "train-2", Limit: 1})
	if diff := cmp.Diff([]string{"ann pause sweep train-2 stop=true done"},
		done(of.Actions)); diff != "" ||
		err != nil ||
		of.Next == "" {
		t.Error(diff, err)
	}
	of, err = s.client.Audit(ctx, api.AuditQuery{Object: "train-2", Limit: 1, After: of.Next})
	if diff := cmp.Diff([]string{"ann submit sweep train-2 done"}, done(of.Actions)); diff != "" ||
		err != nil ||
		of.Next != "" {
		t.Error(diff, err)
	}
	if _, err := s.client.Audit(ctx, api.AuditQuery{After: "x"}); err == nil {
		t.Error("a place that is none")
	}
}

func TestSecretsOfASubmission(t *testing.T) {
	t.Parallel()
	const value = "recognisable-value"
	s := newSite(t)
	sub := submission(t, 1)
	sub.Record.Recipe.Secrets = []string{"KEY"}
	_, err := s.client.Submit(t.Context(), sub, "", "")
	if e, ok := err.(*api.Error); !ok || e.Parameter != api.SecretsField ||
		e.Status != http.StatusConflict {
		t.Errorf("%v", err)
	}
	sub.Secrets = secret.Values{"KEY": value}
	made, err := s.client.Submit(t.Context(), sub, "key", "")
	s.must(err)
	again, err := s.client.Submit(t.Context(), sub, "key", "")
	if err != nil || again.ID != made.ID {
		t.Errorf("%s, %v", again.ID, err)
	}
	s.again()
	if again, err = s.client.Submit(t.Context(), sub, "key", ""); err != nil ||
		again.ID != made.ID { // the store knows the key
		t.Errorf("%s, %v", again.ID, err)
	}
	if _, text, _ := s.raw(http.MethodPost, "/v1/sweeps",
		`{"secrets": {"KEY": 7777777777}}`); strings.Contains(
		text,
		"7777777777",
	) {
		t.Error(text)
	}
	for _, path := range []string{"/v1/sweeps", "/v1/sweeps/train-1?checks=true", "/v1/audit",
		"/v1/metrics"} {
		if _, text, _ := s.raw(http.MethodGet, path, ""); strings.Contains(text, value) ||
			text == "" {
			t.Error(text)
		}
	}
	if strings.Contains(s.log.String(), value) {
		t.Error(s.log)
	}
}
