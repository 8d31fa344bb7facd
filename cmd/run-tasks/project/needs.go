package project

import (
	"maps"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// Needs are the options that change what tasks need of a host.
type Needs struct {
	Amounts map[string]string // of those of gpus, cpus and memory that are given
	On      []string          // LABEL=VALUE
}

// Change applies the options to what tasks need. Memory and name of GPUs stay.
func (o Needs) Change(n *task.Needs) error {
	for _, option := range []struct {
		name string
		set  func(text string) (problem, remedy string)
	}{
		{"gpus", func(text string) (problem, remedy string) {
			g := n.GPUs
			g.Count, g.All, g.Share = 1, text == "all", false
			if !g.All {
				g.Count, problem, remedy = definition.ParseGPUCount(text)
			}
			if g.Count == 0 {
				g = task.GPUs{}
			}
			n.GPUs = g
			return problem, remedy
		}},
		{"cpus", func(text string) (problem, remedy string) {
			n.CPUs, problem, remedy = definition.ParseCPUs(text)
			return problem, remedy
		}},
		{"memory", func(text string) (problem, remedy string) {
			n.Memory = 0
			if text != "0" {
				n.Memory, problem, remedy = definition.ParseMemory(text)
			}
			return problem, remedy
		}},
	} {
		text, given := o.Amounts[option.name]
		if !given {
			continue
		}
		if problem, remedy := option.set(text); problem != "" {
			return cli.Wrong(remedy, "--%s: %s", option.name, problem)
		}
	}
	for _, label := range o.On {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			return cli.Wrong("write --on host=gpu2, or another label of the hosts",
				"--on: %s is not LABEL=VALUE", fault.Quote(label))
		}
		n.On = maps.Clone(n.On)
		if n.On == nil {
			n.On = map[string]string{}
		}
		n.On[name] = value
	}
	if err := n.Check(); err != nil {
		return cli.Wrong("", "%w", err)
	}
	return nil
}
