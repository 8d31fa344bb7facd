package main

import (
	"slices"
	"testing"

	"mlframework/sweep/api"
)

func TestEarlierAttempts(t *testing.T) {
	t.Parallel()
	host := "gpu1"
	on := func(number int, worker string, resumed bool) api.Attempt {
		return api.Attempt{Attempt: number, Worker: worker, Host: &host, Resumed: resumed}
	}
	list := func(all ...api.Attempt) []api.Attempt { return all }
	unstarted := api.Attempt{Attempt: 2, Worker: "w1"}
	for name, c := range map[string]struct {
		all  []api.Attempt
		want []int
	}{
		"none":       {nil, nil},
		"one":        {list(on(1, "w1", false)), nil},
		"begun anew": {list(on(1, "w1", false), on(2, "w1", false)), nil},
		"resumed":    {list(on(1, "w1", false), on(2, "w1", true)), []int{1}},
		"resumed twice": {list(on(1, "w1", false), on(2, "w1", true), on(3, "w1", true)),
			[]int{1, 2}},
		"resumed after anew": {list(on(1, "w1", false), on(2, "w1", false), on(3, "w1", true)),
			[]int{2}},
		"one elsewhere": {list(on(1, "w1", false), on(2, "w2", false), on(3, "w1", true)),
			[]int{1}},
		"one that never began": {list(on(1, "w1", false), unstarted, on(3, "w1", true)), []int{1}},
		"a superseded result": {list(on(1, "w1", false), on(1, "w1", false), on(2, "w1", true)),
			[]int{1}},
	} {
		if got := earlierAttempts(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
