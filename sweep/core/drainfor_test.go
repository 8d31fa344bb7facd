package core_test

import (
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A drain for a replacement ends with the resume that is for it, and a person's only with a
// person's, in whatever order they come, also after the master was started again.
func TestDrainFor(t *testing.T) {
	t.Parallel()
	commands := map[string]core.DrainWorker{
		"drain":       {},
		"resume":      {Off: true},
		"replace":     {For: core.ForReplacement},
		"replacement": {For: core.ForReplacement, Off: true},
	}
	const byPerson, replaced = "by a person", "for its replacement"
	for sequence, want := range map[string]string{
		"drain":                             byPerson,
		"drain resume":                      "",
		"drain replace":                     byPerson,
		"drain replacement":                 byPerson,
		"drain replace replacement":         byPerson,
		"drain replace resume":              "",
		"replace":                           replaced,
		"replace replace":                   replaced,
		"replace replacement":               "",
		"replace replacement replacement":   "",
		"replace resume":                    "",
		"replace drain":                     byPerson,
		"replace drain replacement":         byPerson,
		"replace resume drain replacement":  byPerson,
		"replace drain resume":              "",
		"replace drain resume replace":      replaced,
		"replacement":                       "",
		"resume replace replacement resume": "",
	} {
		t.Run(sequence, func(t *testing.T) {
			t.Parallel()
			c, _ := core.Load(core.Options{}, nil, nil, at(0))
			h := beatOf("1")
			effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{h}}, at(0))
			record := core.WorkerRecord{Name: "w"}
			shown := func(c *core.Core) string {
				switch w := c.Worker("w"); {
				case w.DrainedFor != nil && *w.DrainedFor == core.ForReplacement:
					return replaced
				case w.State == core.WorkerDraining:
					return byPerson
				}
				return ""
			}
			for second, name := range strings.Fields(sequence) {
				d := commands[name]
				d.Worker = "w"
				before := shown(c)
				out := c.Step(core.Input{Command: d}, at(float64(second)))
				effects, err := out.Commit(func(rows *core.Rows) error {
					for _, w := range rows.Workers {
						record = w
					}
					return nil
				})
				if err != nil || effects.Err != nil {
					t.Fatal(err, effects.Err)
				}
				if d.For != "" && before == shown(c) && len(effects.Messages) > 0 {
					t.Errorf("%s changes nothing, and the worker is sent %+v", name,
						effects.Messages)
				}
			}
			if got := shown(c); got != want {
				t.Errorf("it is drained %q, not %q", got, want)
			}
			c, _ = core.Load(core.Options{}, nil, []core.WorkerRecord{record}, at(60))
			h.Draining = record.Drained
			effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{h}}, at(60))
			if got := shown(c); got != want {
				t.Errorf("with the next master it is drained %q, not %q", got, want)
			}
		})
	}
}
