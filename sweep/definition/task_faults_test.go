package definition_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/definition"
	"mlframework/sweep/task"
)

// Each text stands in a task "a" after its command, from line 4 and column 5.
func TestTaskFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"unknown key, near", "tiemout: 2h",
			`4:5: tasks.a: unknown key "tiemout"; did you mean "timeout"?`},
		{"unknown key, far", "zzzzzz: 2h",
			`4:5: tasks.a: unknown key "zzzzzz"; the keys here are: command, env, each, workdir, parameters, flags, file, new-keys, switch, timeout, grace, retry, max-failures, gpus, idle, cpus, memory, on, code, metrics, objective, rank, on-end`},
		{"key of the file", "link: [a]",
			`4:5: tasks.a: the key "link" does not belong inside a task; write it at the top of the file, outside tasks`},
		{"duplicate", "command: [y]",
			`4:5: tasks.a.command: is there twice, first in line 3; remove one`},
		{"each", "each: wroker",
			`4:11: tasks.a.each: unknown word "wroker"; did you mean "worker"?`},
		{"each point", "each: point",
			`4:11: tasks.a.each: unknown word "point"; write each: worker`},
		{"each and parameters", "each: worker\n    parameters: p.yml",
			`5:17: tasks.a.parameters: a task that runs once on each worker has no parameters; remove this or each: worker`},
		{"parameters absolute", "parameters: /p.yml",
			`4:17: tasks.a.parameters: "/p.yml" is outside the project; name a file of the project: parameters: parameters.yml`},
		{"parameters outside", "parameters: a/../../p.yml",
			`4:17: tasks.a.parameters: "a/../../p.yml" is outside the project; name a file of the project: parameters: parameters.yml`},
		{"parameters home", "parameters: ~/p.yml",
			`4:17: tasks.a.parameters: "~/p.yml" is outside the project; name a file of the project: parameters: parameters.yml`},
		{"parameters folder", "parameters: .",
			`4:17: tasks.a.parameters: "." is a folder, not a file; write parameters: parameters.yml`},
		{"parameters slash", "parameters: p/",
			`4:17: tasks.a.parameters: "p/" is a folder, not a file; write parameters: parameters.yml`},
		{"parameters mapping", "parameters: {lr: 3}",
			`4:17: tasks.a.parameters: is a mapping, not a single value; write parameters: parameters.yml`},
		{"file for outputs", "parameters: p\n    file: {from: c.json, to: stdout.log}",
			`5:11: tasks.a.file: "c.json" is to become "stdout.log": a file keeps its format; give both the same ending`},
		{"file of outputs", "parameters: p\n    file: stdout.log",
			`5:11: tasks.a.file: "stdout.log" is of no known format; name a file that ends with .yaml, .yml, .json, .toml`},
		{"file of definitions", "parameters: p\n    file: {from: c.yaml, to: ./tasks.yml}",
			`5:11: tasks.a.file: "tasks.yml" defines the tasks of the project; name another file`},
		{"file of parameters", "parameters: p\n    file: {from: c.json, to: ./parameters.json}",
			`5:11: tasks.a.file: every task has a file parameters.json with its parameters, which "c.json" would replace; give it another name with to`},
		{"flags", "parameters: p\n    flags: spaces",
			`5:12: tasks.a.flags: unknown word "spaces"; did you mean "space"?`},
		{"flags far", "parameters: p\n    flags: xxxx",
			`5:12: tasks.a.flags: unknown word "xxxx"; write flags: equals, space, hydra, env or none`},
		{"switch", "parameters: p\n    switch: true",
			`5:13: tasks.a.switch: unknown word "true"; write switch: flag, switch: no or switch: value`},
		{"timeout without unit", "timeout: 90",
			`4:14: tasks.a.timeout: 90 has no unit; write one: 90s, 90m or 90h`},
		{"timeout negative number", "timeout: -90",
			`4:14: tasks.a.timeout: -90 has no unit; write one: 90s, 90m or 90h`},
		{"timeout negative", "timeout: -90s",
			`4:14: tasks.a.timeout: -90s is negative; write 0 or more`},
		{"timeout words", "timeout: 2 hours",
			`4:14: tasks.a.timeout: "2 hours" is not a duration; write one such as 90s, 2h, 1h30m or 1d`},
		{"timeout order", "timeout: 30m1h",
			`4:14: tasks.a.timeout: "30m1h" is not a duration; write one such as 90s, 2h, 1h30m or 1d`},
		{"timeout clock", "timeout: 1:30:00",
			`4:14: tasks.a.timeout: "1:30:00" is not a duration; write one such as 90s, 2h, 1h30m or 1d`},
		{"timeout empty", `timeout: ""`,
			`4:14: tasks.a.timeout: "" is not a duration; write one such as 90s, 2h, 1h30m or 1d`},
		{"timeout long", "timeout: 3651d",
			`4:14: tasks.a.timeout: 3651d is longer than ten years; write 0 for no limit`},
		{"timeout endless", "timeout: 9" + strings.Repeat("9", 400) + "d",
			`4:14: tasks.a.timeout: ` + strings.Repeat("9", 60) +
				`… is longer than ten years; write 0 for no limit`},
		{"timeout null", "timeout: ~", `4:14: tasks.a.timeout: has no value; write timeout: 2h`},
		{"grace", "grace: 10", `4:12: tasks.a.grace: 10 has no unit; write one: 10s, 10m or 10h`},
		{"retry number", "retry: 3",
			`4:12: tasks.a.retry: is "3", not a mapping; write retry: {error: 1, lost: 3}`},
		{"retry key", "retry: {eror: 3}",
			`4:13: tasks.a.retry: unknown key "eror"; did you mean "error"?`},
		{"retry negative", "retry: {error: -1}",
			`4:20: tasks.a.retry.error: -1 is negative; write 0 or more`},
		{"retry many", "retry: {lost: 101}",
			`4:19: tasks.a.retry.lost: 101 is too many; write 100 or less`},
		{"retry fraction", "retry: {oom: 1.5}",
			`4:18: tasks.a.retry.oom: is "1.5", not a whole number; write oom: 1`},
		{"retry quoted", `retry: {timeout: "1"}`,
			`4:22: tasks.a.retry.timeout: is "1", not a whole number; write timeout: 1`},
		{"max-failures", "max-failures: never",
			`4:19: tasks.a.max-failures: is "never", not a whole number; write max-failures: 10`},
		{"max_failures", "max_failures: 1",
			`4:5: tasks.a: unknown key "max_failures"; did you mean "max-failures"?`},
		{"max-failures huge", "max-failures: 99999999999999999999",
			`4:19: tasks.a.max-failures: 99999999999999999999 is too many; write 1000000000 or less`},
		{"gpus", "gpus: some",
			`4:11: tasks.a.gpus: "some" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus all and shared", "gpus: {count: all, memory: 3g, share: true}",
			`4:19: tasks.a.gpus.count: all, share and a count exclude each other; write gpus: {memory: 3g, share: true}`},
		{"gpus shared without memory", "gpus: {share: true}",
			`4:11: tasks.a.gpus: share needs memory: how much of the GPU each task takes; write gpus: {memory: 3g, share: true}`},
		{"cpus", "cpus: half", `4:11: tasks.a.cpus: is "half", not a whole number; write cpus: 4`},
		{"memory", "memory: 16", `4:13: tasks.a.memory: 16 has no unit; write one: 16m or 16g`},
		{"labels", "on: fast", `4:9: tasks.a.on: is "fast", not a mapping; write on: {disk: fast}`},
		{"gpus fraction above one", "gpus: 1.5",
			`4:11: tasks.a.gpus: "1.5" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus share of infinitely many", "gpus: 1/inf",
			`4:11: tasks.a.gpus: "1/inf" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus share of a part", "gpus: 1/0.5",
			`4:11: tasks.a.gpus: "1/0.5" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus share of none", "gpus: 1/0",
			`4:11: tasks.a.gpus: "1/0" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus negative share", "gpus: 1/-2",
			`4:11: tasks.a.gpus: "1/-2" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus share of too many", "gpus: 1/17",
			`4:11: tasks.a.gpus: "1/17" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus list", "gpus: [0, 1]",
			`4:11: tasks.a.gpus: is a list, not a single value; write gpus: 1`},
		{"gpus nothing", "gpus: {}",
			`4:11: tasks.a.gpus: says nothing; write gpus: {count: 1, memory: 12g, name: "A100|H100"}`},
		{"gpus key", "gpus: {mem: 12g}",
			`4:12: tasks.a.gpus: unknown key "mem"; the keys here are: count, memory, name, share`},
		{"gpus key, near", "gpus: {memroy: 12g}",
			`4:12: tasks.a.gpus: unknown key "memroy"; did you mean "memory"?`},
		{"gpus count", "gpus: {count: some}",
			`4:19: tasks.a.gpus.count: "some" is not a number of GPUs; write a whole number up to 64, all, or a share such as 0.5, 0.25 or 1/3, down to 1/16`},
		{"gpus none with memory", "gpus: {memory: 12g, count: 0}",
			`4:32: tasks.a.gpus.count: memory and name are those of GPUs, and count is 0; write count: 1, or gpus: 0 for tasks without GPUs`},
		{"gpus memory without unit", "gpus: {memory: 12}",
			`4:20: tasks.a.gpus.memory: 12 has no unit; write one: 12m or 12g`},
		{"gpus memory word", "gpus: {memory: much}",
			`4:20: tasks.a.gpus.memory: "much" is not a size; write one such as 512m or 2g`},
		{"gpus memory small", "gpus: {memory: 12k}",
			`4:20: tasks.a.gpus.memory: 12k is too small; write 1m or more`},
		{"gpus memory empty", "gpus: {memory: }",
			`4:20: tasks.a.gpus.memory: has no value; write memory: 12g`},
		{"gpus name", `gpus: {name: "A100("}`,
			`4:18: tasks.a.gpus.name: is not a regular expression: missing closing ): "A100("; write name: "A100|H100"`},
		{"gpus name of Python", `gpus: {name: "(?!T4)"}`,
			`4:18: tasks.a.gpus.name: lookaround (?!...) is not known here: patterns are RE2, not Python's; write name: "A100|H100"`},
		{"gpus name long", "gpus: {name: " + strings.Repeat("x", 129) + "}",
			`4:18: tasks.a.gpus.name: the name of a GPU is longer than 128 bytes; write name: "A100|H100"`},
		{"gpus name list", "gpus: {name: [A100, H100]}",
			`4:18: tasks.a.gpus.name: is a list, not a single value; write name: "A100|H100"`},
		{"idle alone", "gpus: 1\n    idle: 5%",
			`5:11: tasks.a.idle: is "5%", not a mapping; write idle: {below: 5%, for: 30m}`},
		{"idle nothing", "gpus: 1\n    idle: {}",
			`5:11: tasks.a.idle: has no below; write idle: {below: 5%, for: 30m}`},
		{"idle without a time", "gpus: 1\n    idle: {below: 5%}",
			`5:11: tasks.a.idle: has no for; write idle: {below: 5%, for: 30m}`},
		{"idle key", "gpus: 1\n    idle: {above: 5%, below: 5%, for: 30m}",
			`5:12: tasks.a.idle: unknown key "above"; the keys here are: below, for`},
		{"idle below nothing", "gpus: 1\n    idle: {below: 0%, for: 30m}",
			`5:19: tasks.a.idle.below: "0%" is not a percentage that the use of a GPU can be below; write one from 1% to 100%`},
		{"idle below much", "gpus: 1\n    idle: {below: 101%, for: 30m}",
			`5:19: tasks.a.idle.below: "101%" is not a percentage that the use of a GPU can be below; write one from 1% to 100%`},
		{"idle below a number", "gpus: 1\n    idle: {below: 5, for: 30m}",
			`5:19: tasks.a.idle.below: "5" is not a percentage that the use of a GPU can be below; write one from 1% to 100%`},
		{"idle negative", "gpus: 1\n    idle: {below: 5%, for: -1m}",
			`5:28: tasks.a.idle.for: -1m is too short; write 1m or more`},
		{"idle short", "gpus: 1\n    idle: {below: 5%, for: 59s}",
			`5:28: tasks.a.idle.for: 59s is too short; write 1m or more`},
		{"idle without unit", "gpus: 1\n    idle: {below: 5%, for: 30}",
			`5:28: tasks.a.idle.for: 30 has no unit; write one: 30s, 30m or 30h`},
		{"idle without gpus", "idle: {below: 5%, for: 30m}",
			`4:11: tasks.a.idle: the task has no GPUs; write gpus: 1 beside it, or remove it`},
		{"idle with no gpus", "gpus: 0\n    idle: {below: 5%, for: 30m}",
			`5:11: tasks.a.idle: the task has no GPUs; write gpus: 1 beside it, or remove it`},
		{"objective word", "objective: maximise accuracy",
			`4:16: tasks.a.objective: unknown word "maximise"; did you mean "maximize"?`},
		{"objective order", "objective: accuracy",
			`4:16: tasks.a.objective: unknown word "accuracy"; write maximize METRIC or minimize METRIC`},
		{"objective half", "objective: minimize",
			`4:16: tasks.a.objective: names no metric; write minimize METRIC`},
		{"objective mapping", "objective: {maximize: a}",
			`4:16: tasks.a.objective: is a mapping, not a single value; write objective: maximize accuracy`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, "tasks:\n  a:\n    command: [x]\n    "+c.text+"\n",
				[]string{"tasks.yml:" + c.want})
		})
	}
}

func TestNameFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{`""`, `1:9: tasks.: "" is not a valid task name; begin it with a letter or _, go on with letters, digits and _ . -`},
		{"1a", `1:9: tasks.1a: "1a" is not a valid task name; begin it with a letter or _, go on with letters, digits and _ . -`},
		{"a/b", `1:9: tasks.a/b: "a/b" is not a valid task name; begin it with a letter or _, go on with letters, digits and _ . -`},
		{`"a\n"`,
			`1:9: tasks.a�: "a\n" is not a valid task name; begin it with a letter or _, go on with letters, digits and _ . -`},
		{"été", `1:9: tasks.été: "été" is not a valid task name; begin it with a letter or _, go on with letters, digits and _ . -`},
		{"results",
			`1:9: tasks.results: "results" is a subcommand of run-tasks; give the task another name`},
		{"train-1",
			`1:9: tasks.train-1: the name ends like the id of a sweep: "train-1" is a sweep of "train"; write train_1`},
		{"a-b-07",
			`1:9: tasks.a-b-07: the name ends like the id of a sweep: "a-b-07" is a sweep of "a-b"; write a-b_07`},
		{strings.Repeat("a", 65), `1:9: tasks.` + strings.Repeat("a", 60) +
			`…: the name is longer than 64 characters`},
	} {
		checkFaults(t, "tasks: {"+c.name+": {command: [x]}}", []string{"tasks.yml:" + c.want})
	}
	checkFaults(t, "tasks:\n  Run: {command: [x]}\n  run: {command: [x]}", []string{
		`tasks.yml:3:3: tasks.run: the name differs from "Run" only in upper and lower case; give the task another name`,
	})
	read(t, "tasks: {"+strings.Repeat("a",
		64)+": {command: [x]}, _a.b-c: {command: [x]}, a-1b: {command: [x]}}")
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "-0": 0, "90s": 90 * time.Second, "2h": 2 * time.Hour,
		"1h30m": 90 * time.Minute, "1d": 24 * time.Hour,
		"1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute, "500ms": 500 * time.Millisecond,
		"'2h'":  2 * time.Hour,
		"3650d": 3650 * 24 * time.Hour, "90m": 90 * time.Minute,
	} {
		if got := oneTask(t, "timeout: "+text).Timeout; got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]task.GPUs{
		"0": {}, "1": {Count: 1}, "8": {Count: 8}, "2.0": {Count: 2}, "0.5": {Count: 0.5},
		"0.25": {Count: 0.25}, "0.33": {Count: 1.0 / 3}, "0.3333": {Count: 1.0 / 3},
		"1/3": {Count: 1.0 / 3}, "0.125": {Count: 0.125}, "1/16": {Count: 1.0 / 16}, "-0": {},
		"{count: 2}": {Count: 2}, "{count: 0}": {}, "{count: 0.33}": {Count: 1.0 / 3},
		"{memory: 12g}":                  {Count: 1, Memory: 12 << 30},
		"{memory: 12GB}":                 {Count: 1, Memory: 12 << 30},
		"{memory: 1.5GiB, count: 1/2}":   {Count: 0.5, Memory: 3 << 29},
		`{name: "A100|H100"}`:            {Count: 1, Name: "A100|H100"},
		"{name: 4090, count: 4}":         {Count: 4, Name: "4090"},
		"{<<: {memory: 8g}, name: A100}": {Count: 1, Memory: 8 << 30, Name: "A100"},
	} {
		if got := oneTask(t, "gpus: "+text).GPUs; got != want {
			t.Errorf("%s is %v, not %v", text, got, want)
		}
	}
	for _, text := range []string{"-1", "0.3", "0.7", "0.99", "65", "nan", "inf", "1/0", "1/17",
		"0.05", "1/2.5", "2/4", "''"} {
		_, _, err := definition.Read("tasks.yml",
			[]byte("tasks: {a: {command: [x], gpus: "+text+"}}"), nil)
		if err == nil || !strings.Contains(err.Error(), "is not a number of GPUs") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestOwnParametersFile takes a project's own parameters.json, which tasks get with their values.
func TestOwnParametersFile(t *testing.T) {
	t.Parallel()
	for text, to := range map[string]string{
		"parameters.json":                            "parameters.json",
		"{from: parameters.json}":                    "parameters.json",
		"{from: parameters.json, to: run.json}":      "run.json",
		"{from: c.json, to: config/parameters.json}": "config/parameters.json",
	} {
		got := oneTask(t, "parameters: p\n    file: "+text).File
		if got == nil || got.To != to {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// oneTask reads one line of a task without a fault.
func oneTask(t *testing.T, line string) definition.Task {
	t.Helper()
	return read(t, "tasks:\n  a:\n    command: [x]\n    "+line+"\n").Tasks[0]
}
