package definition

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// leastGPUMemory is below what any GPU has; it catches a wrong unit.
const leastGPUMemory = 1 << 20

func gpusKeys() []key[task.GPUs] {
	return []key[task.GPUs]{
		{"count", "count: 1", readGPUCount},
		{"memory", "memory: 12g", func(r *reader, g *task.GPUs, v value) {
			g.Memory = r.size(v, leastGPUMemory)
		}},
		{"name", `name: "A100|H100"`, readGPUName},
		{"share", "share: true", func(r *reader, g *task.GPUs, v value) {
			g.Share, _ = r.boolean(v)
		}},
	}
}

// readGPUs reads how many GPUs a task needs, or with memory and name what they have to be.
func readGPUs(r *reader, t *Task, v value) {
	if v.Kind != yaml.MappingNode {
		readGPUCount(r, &t.GPUs, v)
		return
	}
	v.Example = `gpus: {count: 1, memory: 12g, name: "A100|H100"}`
	if len(v.Content) == 0 {
		r.Wrong(v, "says nothing")
		return
	}
	faults, g := len(r.Faults), task.GPUs{Count: 1}
	present, ok := object(r, v, &g, gpusKeys(), place{})
	if !ok || len(r.Faults) > faults {
		return
	}
	if err := g.Check(); err != nil {
		at := v
		if count, found := present["count"]; found {
			at = count
		}
		remedy := "write count: 1, or gpus: 0 for tasks without GPUs"
		if g.Share {
			remedy = "write gpus: {memory: 3g, share: true}"
		}
		r.Fault(at, err.Error(), remedy)
		return
	}
	t.GPUs = g
}

func readGPUCount(r *reader, g *task.GPUs, v value) {
	text, ok := r.Text(v)
	if !ok {
		return
	}
	if g.All = text == "all"; g.All {
		g.Count = 1
		return
	}
	count, problem, remedy := ParseGPUCount(text)
	if problem != "" {
		r.Fault(v, problem, remedy)
	}
	g.Count = count
}

func readGPUName(r *reader, g *task.GPUs, v value) {
	text, ok := r.Word(v)
	if !ok {
		return
	}
	err := task.GPUs{Count: 1, Name: text}.Check()
	if _, is := errors.AsType[*syntax.Error](err); is {
		r.Wrong(v, explainPattern(err).problem)
	} else if err != nil {
		r.Wrong(v, err.Error())
	}
	g.Name = text
}

// ParseGPUCount reads a number of GPUs as tasks.yml has it: a whole one, or a share as 1/n or as a
// decimal that is within a hundredth of it, as 0.33 is of a third. The problem is "" where there is
// none; else the count is 0.
func ParseGPUCount(text string) (count float64, problem, remedy string) {
	count, err := strconv.ParseFloat(text, 64)
	if digits, share := strings.CutPrefix(text, "1/"); share {
		var n uint64
		n, err = strconv.ParseUint(digits, 10, 16) // 0 makes it infinite, which Check refuses
		count = 1 / float64(n)
	}
	if n := math.Round(1 / count); n >= 2 && math.Abs(count*n-1) <= 0.01+1e-9 {
		count = 1 / n
	}
	if err != nil || (task.GPUs{Count: count}).Check() != nil {
		return 0, fault.Quote(text) + " is not a number of GPUs", fmt.Sprintf(
			"write a whole number up to %d, all, or a share such as 0.5, 0.25 or 1/3, down to 1/%d",
			task.MaxGPUs, task.MaxShares)
	}
	return math.Abs(count), "", "" // no -0
}

// readOn reads the labels that a host must have.
func readOn(r *reader, t *Task, v value) {
	entries, _ := r.Mapping(v)
	t.On = map[string]string{}
	for _, e := range entries {
		if text, ok := r.Text(e.Value); ok {
			t.On[e.Name] = text
		}
	}
	if err := task.CheckLabels(t.On); err != nil {
		r.Wrong(v, err.Error())
	}
}

// ParseCPUs reads a number of CPUs as tasks.yml has it. The problem is "" where there is none; else
// the number is 0.
func ParseCPUs(text string) (n int, problem, remedy string) {
	n, err := strconv.Atoi(text)
	if err != nil || (task.Needs{CPUs: n}).Check() != nil {
		return 0, fault.Quote(text) + " is not a number of CPUs",
			fmt.Sprintf("write a whole number up to %d", task.MaxCPUs)
	}
	return n, "", ""
}

// ParseMemory reads a size of memory as tasks.yml has it, in bytes. The problem is "" where there is
// none.
func ParseMemory(text string) (bytes int64, problem, remedy string) {
	return yamlfile.ParseSize(text, leastGPUMemory)
}
