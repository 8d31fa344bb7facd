package core_test

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Tasks run for so long, at least and at most.
const (
	shortestTask = time.Second
	longestTask  = 9 * time.Second
)

// killsItsWorker is an end of which nobody tells.
const killsItsWorker task.Class = "kills its worker"

// random is a number that belongs to an attempt, whenever and wherever it runs.
func (p *simPeople) random(id task.ID, number int, what uint64) uint64 {
	x := p.salt ^ what
	for _, c := range []byte(id.Sweep) {
		x = (x ^ uint64(c)) * 0x100000001b3
	}
	x = (x ^ uint64(id.Index)<<8 ^ uint64(number)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// duration is for how long an attempt runs.
func (p *simPeople) duration(id task.ID, number int) time.Duration {
	return shortestTask + time.Duration(p.random(id, number, 1)%uint64(longestTask-shortestTask))
}

// class is how an attempt ends by itself.
func (p *simPeople) class(id task.ID, number int) task.Class {
	classes := [...]task.Class{task.Error, task.Error, task.TimedOut, task.OutOfMemory}
	n := p.random(id, number, 2) % 20
	switch {
	case id.Index == p.poison && strings.HasSuffix(id.Sweep, "1") && !p.calm:
		return killsItsWorker
	case int(n) < len(classes):
		return classes[n]
	}
	return task.Success
}

// spaces are some of which each has the points of those before it.
var spaces = sync.OnceValue(func() (all []*space.Space) {
	for n := 1; n <= 20; n++ {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprint(i)
		}
		s, _, err := space.Read("parameters.yml", []byte("a: ["+strings.Join(values, ", ")+"]"))
		if err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
})

// newRecord makes up a sweep.
func (p *simPeople) newRecord() (r core.Record, total int64) {
	plan := p.plan
	r = core.Record{Version: task.Version, Priority: plan.IntN(3) - 1,
		Retry: task.Retry{Error: plan.IntN(2), Timeout: plan.IntN(2), OOM: plan.IntN(2),
			Lost: plan.IntN(4)}}
	definition := []string{"train", "eval"}[plan.IntN(2)]
	r.Recipe = task.Recipe{Definition: definition, Revision: "r1"}
	points := 1 + plan.IntN(10)
	r.Space = spaces()[points-1]
	total = int64(points)
	switch plan.IntN(5) {
	case 0:
		r.EachWorker = !p.plain
	case 1:
		if points > 4 {
			r.Ranges = core.Ranges{{From: 1, To: 3}, {From: 4, To: int64(points)}}
			total = r.Ranges.Len()
		}
	case 2:
		if !p.plain {
			r.MaxFailures = 1 + plan.Int64N(3)
		}
	}
	if plan.IntN(4) == 0 {
		r.Recipe.Secrets = []string{"TOKEN"}
	}
	r.Recipe.Needs = p.newNeeds()
	return r, total
}

// submit submits a sweep, when the master is there.
func (p *simPeople) submit(r core.Record, total int64) {
	again := func() { p.submit(r, total) }
	if !p.master.up {
		p.after(200*time.Millisecond, again)
		return
	}
	var id string
	p.command("submit", "sweep", "", func() (core.Command, error) {
		r, total := r, total
		if err := p.master.core.CheckNeeds(r.Recipe.Definition, r.Recipe.Needs); err != nil {
			return nil, err
		}
		if r.EachWorker {
			r.Workers = p.master.core.Present(r.Recipe.Needs)
			if total = int64(len(r.Workers)); total == 0 {
				p.after(3*time.Second, again)
				return nil, &core.NoWorker{Definition: r.Recipe.Definition}
			}
		}
		w := p.store.add(r, total, p.now)
		id = w.model.head.ID
		p.master.add(id)
		start := core.StartSweep{Sweep: id, Followed: p.IntN(2) == 0}
		if p.master.core.LacksSecrets(id) && (p.plain || p.IntN(8) > 0) {
			start.Edition = p.newEdition(id)
		}
		return start, nil
	}, func(*core.Effects) { p.judge.confirmed[id] = p.store.byID[id].model.head.Total }, nil)
}

// newEdition keeps values of a sweep's secrets.
func (p *simPeople) newEdition(id string) string {
	p.edition++
	edition := fmt.Sprintf("e%d", p.edition)
	p.store.secrets[id] = keptSecrets{edition: edition}
	return edition
}
