package definition

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Bounds that no sensible definition meets; they catch slips of the finger.
const (
	maxRetries  = 100
	maxFailures = 1_000_000_000
)

// taskKeys returns the keys of one task definition.
func taskKeys() []key[Task] {
	return []key[Task]{
		{"command", "command: [python3, -u, train.py]", readCommand},
		{"env", `env: {LR: "{lr}"}`, func(r *reader, t *Task, v value) {
			t.Env = r.environment(v, t.place)
		}},
		{"each", "each: worker", readEach},
		{"workdir", "workdir: examples/vae", readWorkdir},
		{"parameters", "parameters: parameters.yml", readParameters},
		{"flags", "flags: equals, space, hydra, env or none", readFlags},
		{"file", "file: config.yaml", readFile},
		{"new-keys", "new-keys: true", func(r *reader, t *Task, v value) {
			t.NewKeys, _ = r.boolean(v)
		}},
		{"switch", "switch: flag, switch: no or switch: value", readSwitch},
		{"timeout", "timeout: 2h", func(r *reader, t *Task, v value) { t.Timeout = r.duration(v) }},
		{"grace", "grace: 10s", func(r *reader, t *Task, v value) { t.Grace = r.duration(v) }},
		{"retry", "retry: {error: 1, lost: 3}", readRetry},
		{"max-failures", "max-failures: 10", func(r *reader, t *Task, v value) {
			t.MaxFailures = r.count(v, maxFailures)
			t.KeepGoing = t.MaxFailures == 0
		}},
		{"gpus", "gpus: 1", readGPUs},
		{"idle", "idle: {below: 5%, for: 30m}", readIdle},
		{"cpus", "cpus: 4", func(r *reader, t *Task, v value) { t.CPUs = r.count(v, task.MaxCPUs) }},
		{"memory", "memory: 16g", func(r *reader, t *Task, v value) {
			t.Memory = r.size(v, leastGPUMemory)
		}},
		{"on", "on: {disk: fast}", readOn},
		{"code", "code: ['*.py', configs]", readCode},
		{"metrics", "metrics: {accuracy: 'accuracy: ([0-9.]+)'}", readMetrics},
		{"objective", "objective: maximize accuracy", readObjective},
		{"rank", "rank: [timeout]", readRank},
		{"on-end", "on-end: {run: [python, report.py], on: success}", readOnEnd},
	}
}

func retryKeys() []key[task.Retry] {
	return []key[task.Retry]{
		{"error", "error: 1", func(r *reader, t *task.Retry, v value) {
			t.Error = r.count(v, maxRetries)
		}},
		{"timeout", "timeout: 1", func(r *reader, t *task.Retry, v value) {
			t.Timeout = r.count(v, maxRetries)
		}},
		{"oom", "oom: 1", func(r *reader, t *task.Retry, v value) {
			t.OOM = r.count(v, maxRetries)
		}},
		{"lost", "lost: 3", func(r *reader, t *task.Retry, v value) {
			t.Lost = r.count(v, maxRetries)
		}},
	}
}

func (r *reader) readTask(e entry) Task {
	t := Task{Name: e.Name, Grace: DefaultGrace, Retry: task.Retry{Lost: DefaultRetryLost}}
	e.Value.Example = fault.Printable(e.Name) + ": {command: [python3, -u, train.py]}"
	before, faults := len(r.gpuVariables), len(r.Faults)
	present, ok := object(r, e.Value, &t, taskKeys(), place{
		here: "inside a task", others: names(fileKeys()),
		there: "write it at the top of the file, outside tasks",
	})
	if v, set := present["idle"]; set && t.GPUs.Count == 0 && len(r.Faults) == faults {
		r.Fault(v, "the task has no GPUs", "write gpus: 1 beside it, or remove it")
	}
	if t.GPUs.Count > 0 {
		r.refuseGPUVariables(r.gpuVariables[before:],
			"remove it; to choose among GPUs, set it in the shell of run-tasks --local, or "+
				"gpus in cluster.yml for hosts")
	}
	r.gpuVariables = r.gpuVariables[:before]
	if !ok {
		return t
	}
	if _, found := present["command"]; !found {
		r.Fault(e.Key, "has no command", "write command: [python3, -u, train.py]")
	}
	parameters, found := present["parameters"]
	if found && t.EachWorker {
		r.Fault(parameters, "a task that runs once on each worker has no parameters",
			"remove this or each: worker")
	}
	for _, name := range []string{"flags", "switch"} {
		if v, set := present[name]; set && !found {
			r.Warn(v, "changes nothing, as the task has no parameters",
				"name a file: parameters: parameters.yml")
		}
	}
	if v, set := present["file"]; set && !found && t.File != nil {
		r.Fault(v, "the task has no parameters that go into the file",
			"name a file of parameters: parameters: parameters.yml")
	}
	if t.File != nil {
		t.File.NewKeys, t.NewKeys = t.NewKeys, false
		if v, set := present["flags"]; set && t.Flags == "" || t.Flags == "hydra" {
			r.Fault(v,
				"flags and file are two ways for the same parameters: the file takes all of them",
				`remove one; a parameter that is a flag, too, is written in the command: "--lr={lr}"`)
		}
		t.Flags = cmp.Or(t.Flags, "none")
	}
	if v, set := present["switch"]; set && found && t.Flags != "" {
		r.Warn(v, "changes nothing with flags: "+t.Flags, "remove it")
	}
	if v, set := present["rank"]; set && t.Objective.Metric == "" {
		r.Warn(v, "changes nothing without an objective",
			"write objective: maximize METRIC or minimize METRIC")
		t.Objective = metric.Objective{}
	}
	if !found {
		r.checkNames(t)
	}
	return t
}

// readFile reads which file takes the parameters: one name, or where it is from and where it goes.
func readFile(r *reader, t *Task, v value) {
	f := &task.File{}
	if v.Kind == yaml.MappingNode {
		v.Example = "file: {from: config.yaml, to: run.yaml}"
		present, ok := object(r, v, f, []key[task.File]{
			{"from", "from: config.yaml", func(r *reader, f *task.File, v value) {
				f.From = r.projectPath(v, "file")
			}},
			{"to", "to: run.yaml", func(r *reader, f *task.File, v value) {
				f.To = r.projectPath(v, "file")
			}},
		}, place{here: "here", others: []string{"new-keys"}, there: "write it beside file"})
		if _, found := present["from"]; ok && !found {
			r.Wrong(v, "does not say which file the values go into")
			return
		}
		f.To = cmp.Or(f.To, f.From)
	} else {
		f.From = r.projectPath(v, "file")
		f.To = f.From
	}
	if f.From == "" || f.To == "" {
		return // told
	}
	from, to := path.Ext(f.From), path.Ext(f.To)
	switch {
	case !slices.Contains(fileEndings, strings.ToLower(from)):
		r.Fault(v, fault.Quote(f.From)+" is of no known format",
			"name a file that ends with "+strings.Join(fileEndings, ", "))
	case !strings.EqualFold(from, to) && !(isYAML(from) && isYAML(to)):
		r.Fault(v, fmt.Sprintf("%s is to become %s: a file keeps its format", fault.Quote(f.From),
			fault.Quote(f.To)), "give both the same ending")
	case f.To == FileName:
		r.Fault(v, fault.Quote(f.To)+" defines the tasks of the project", "name another file")
	case f.To == task.ParametersFile && f.From != f.To:
		r.Fault(v, "every task has a file "+f.To+" with its parameters, which "+fault.Quote(f.From)+
			" would replace", "give it another name with to")
	default:
		t.File = f
		t.place("file", r.FaultAt(v, "", ""))
	}
}

// fileEndings are those of files into which values can be put.
var fileEndings = []string{".yaml", ".yml", ".json", ".toml"}

func isYAML(ending string) bool {
	return strings.EqualFold(ending, ".yaml") || strings.EqualFold(ending, ".yml")
}

// place notes where something of a task stands.
func (t *Task) place(key string, at fault.Fault) {
	if t.Places == nil {
		t.Places = Places{}
	}
	t.Places[key] = at
}

// checkNames refuses names in braces that a task without parameters has not.
func (r *reader) checkNames(t Task) {
	check := func(key, text string) {
		for _, name := range task.ParameterNames(text) {
			at := t.Places[key]
			problem, remedy := task.UnknownName(name, nil)
			at.Problem, at.Remedy = at.Problem+problem, remedy
			r.Faults.Add(at)
		}
	}
	for i, argument := range t.Command {
		check(fmt.Sprintf("command[%d]", i), argument)
	}
	for _, v := range t.Env {
		check("env."+v.Name, v.Value)
	}
}

func readEach(r *reader, t *Task, v value) { t.EachWorker = r.choice(v, "worker") == "worker" }

func readParameters(r *reader, t *Task, v value) { t.Parameters = r.projectPath(v, "file") }

// Forms are the ways to pass parameters to a program, as under `flags`.
var Forms = []string{"equals", "space", "hydra", "env", "none"}

func readFlags(r *reader, t *Task, v value) {
	switch word := r.choice(v, Forms...); word {
	case "space":
		t.FlagsSpace = true
	case "hydra", "none", "env":
		t.Flags = word
	}
	t.place("flags", r.FaultAt(v, "", ""))
}

func readSwitch(r *reader, t *Task, v value) {
	if word := r.choice(v, "flag", "no", "value"); word != "flag" {
		t.Switch = word
	}
}

func readRetry(r *reader, t *Task, v value) { object(r, v, &t.Retry, retryKeys(), place{}) }

func readCode(r *reader, t *Task, v value) {
	if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		r.Wrong(v, "is empty: nothing would count as code")
		return
	}
	for _, e := range r.words(v) {
		switch {
		case strings.HasPrefix(e.Value, "#"), strings.TrimSpace(e.Value) == "":
			r.Fault(e, fault.Quote(e.Value)+" names no file",
				"write a file, a folder, or a pattern as in .gitignore")
		case strings.HasPrefix(e.Value, "../"), strings.HasPrefix(e.Value, "~"):
			r.Fault(e, fault.Quote(e.Value)+" is outside the project",
				"name files of the project: "+v.Example)
		default:
			t.Code = append(t.Code, strings.TrimPrefix(e.Value, "./"))
		}
	}
}

// choice returns the word among those allowed, or "" after a fault.
func (r *reader) choice(v value, allowed ...string) string {
	text, ok := r.Text(v)
	if !ok {
		return ""
	}
	if slices.Contains(allowed, text) {
		return text
	}
	problem := "unknown word " + fault.Quote(text)
	if meant := fault.Meant(text, allowed, ""); meant != "" {
		r.Fault(v, problem, meant)
	} else {
		r.Wrong(v, problem)
	}
	return ""
}
