package listing_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"mlframework/sweep/api"
)

// The failures of all sweeps are those of each, and a time leaves out what failed before it.
func TestAllFailures(t *testing.T) {
	t.Parallel()
	w := rand.New(rand.NewPCG(7, 11))
	a := manySweeps(t, w, 60)
	rows, _ := everyTask(t, a, api.Query{States: api.FailedStates})
	var ends []time.Time
	for _, r := range rows {
		if r.Started != nil && r.Duration != nil {
			ends = append(ends, r.Started.Add(time.Duration(*r.Duration*float64(time.Second))))
		}
	}
	if len(ends) < 20 {
		t.Fatalf("only %d tasks failed at a known time", len(ends))
	}
	for n, since := range []time.Time{{}, ends[0], ends[7], ends[13], time.Now()} {
		f, err := a.AllFailures(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, end := range ends {
			if !end.Before(since.Truncate(time.Microsecond)) {
				want++
			}
		}
		if since.IsZero() {
			want = len(rows)
		}
		got, of := f.Others, int64(0)
		for _, g := range f.Groups {
			got += g.Count
			if g.Last != nil && g.Last.Before(since) {
				t.Errorf("since %v: %s was last at %v", since, g.Reason, g.Last)
			}
			for _, s := range g.Sweeps {
				of += s.Count
			}
		}
		if got != int64(want) || n < 4 && got == 0 || of > got {
			t.Errorf("since %v: %d failures, %d of them of sweeps; want %d", since, got, of, want)
		}
	}
}
