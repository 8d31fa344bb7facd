package definition_test

import (
	"strings"
	"testing"

	"mlframework/sweep/definition"
)

// Each text is followed by a faultless task.
func TestFileFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"unknown key, near", "imgae: x", `1:1: unknown key "imgae"; did you mean "image"?`},
		{"unknown key, far", "zzzzzz: x",
			`1:1: unknown key "zzzzzz"; the keys here are: image, build, env, secrets, volumes, container, outputs, link, copy, links, notify, tasks`},
		{"key of a task", "timeout: 2h",
			`1:1: the key "timeout" does not belong at the top of the file; write it inside a task, below tasks`},
		{"duplicate", "image: a\nimage: b",
			`2:1: image: is there twice, first in line 1; remove one`},
		{"key is a list", "[a]: b", `1:1: a key is a list, not text; write NAME: VALUE`},
		{"no value", "image:", `1:7: image: has no value; write image: python:3.12-slim`},
		{"tag", "image: !interval x",
			`1:8: image: the tag !interval has no meaning here; remove it`},
		{"image and build", "build: .\nimage: a",
			`1:8: build: image is set too, and only one of them can be; remove one`},
		{"image is a list", "image: [a]",
			`1:8: image: is a list, not a single value; write image: python:3.12-slim`},
		{"image empty", `image: ""`, `1:8: image: is empty; write image: python:3.12-slim`},
		{"below what the parser takes for a line end", "env: {A: \"x\u2028y\"}\nimage: a b",
			`2:8: image: "a b" is not a valid image name; write image: python:3.12-slim`},
		{"image with space", `image: a b`,
			`1:8: image: "a b" is not a valid image name; write image: python:3.12-slim`},
		{"image like a flag", `image: --privileged`,
			`1:8: image: "--privileged" is not a valid image name; write image: python:3.12-slim`},
		{"image with control", `image: "a\x1b"`,
			`1:8: image: "a\x1b" holds a control character; remove it`},
		{"build outside", "build: ../x",
			`1:8: build: "../x" is outside the project; name a folder of the project: build: .`},
		{"notify is a number", "notify: 3",
			`1:9: notify: is "3", not a mapping; write notify: {url: "https://hooks.example.org/sweeps"}`},
		{"notify says nothing", "notify: {}",
			`1:9: notify: says nothing; write notify: {url: "https://hooks.example.org/sweeps"}`},
		{"notify twice", "notify: {url: http://a.org, command: [a]}",
			`1:38: notify.command: url is set too, and only one of them can be; remove one`},
		{"notify key", "notify: {urll: http://a.org}",
			`1:10: notify: unknown key "urll"; did you mean "url"?`},
		{"notify relative", "notify: {url: secret/path}",
			`1:15: notify.url: is not an absolute URL; write one that begins with https:// or http://`},
		{"notify without a host", "notify: {url: 'https:///secret'}",
			`1:15: notify.url: is not an absolute URL; write one that begins with https:// or http://`},
		{"notify ftp", "notify: {url: ftp://a.org/secret}",
			`1:15: notify.url: has the scheme ftp, which is not supported; write one that begins with https:// or http://`},
		{"notify no URL", "notify: {url: 'http://a b/secret'}",
			`1:15: notify.url: is not a URL; write one that begins with https:// or http://`},
		{"notify text", "notify: {command: ./tell.sh}",
			`1:19: notify.command: is "./tell.sh", not a list; write command: [./tell.sh]`},
		{"notify no command", "notify: {command: []}",
			`1:19: notify.command: is empty; write command: [./tell.sh]`},
		{"notify no program", "notify: {command: ['', a]}",
			`1:20: notify.command[0]: is empty; write the name of a program`},
		{"notify NUL", `notify: {command: [a, "\0"]}`,
			`1:9: notify: the command holds a zero byte; write notify: {url: "https://hooks.example.org/sweeps"}`},
		{"env is a list", "env: [A=b]",
			`1:6: env: is a list, not a mapping; write env: {DATA_DIR: /data}`},
		{"env name", "env: {a-b: c}",
			`1:7: env.a-b: "a-b" is not a valid variable name; begin it with a letter or _, go on with letters, digits and _`},
		{"env of ours", "env: {HOST: c}",
			`1:7: env.HOST: HOST is set by the worker for every attempt; choose another name`},
		{"env without value", "env: {A: }",
			`1:7: env.A: has no value; write A: "" for an empty one`},
		{"env list value", "env: {A: [b]}", `1:10: env.A: is a list, not a single value`},
		{"env twice", "env: {A: b, A: c}",
			`1:13: env.A: is there twice, first in line 1; remove one`},
		{"env NUL", `env: {A: "\0"}`, `1:10: env.A: holds a NUL character, which no variable can`},
		{"secrets is text", "secrets: A",
			`1:10: secrets: is "A", not a list; write secrets: [WANDB_API_KEY]`},
		{"secret with value", "secrets: [A=b]",
			`1:11: secrets[0]: a secret's value does not belong in this file; write the name only: A`},
		{"secret name", "secrets: [a-b]",
			`1:11: secrets[0]: "a-b" is not a valid variable name; begin it with a letter or _, go on with letters, digits and _`},
		{"secret of ours", "secrets: [SLOT]",
			`1:11: secrets[0]: SLOT is set by the worker for every attempt; choose another name`},
		{"secret GPUs", "secrets: [CUDA_VISIBLE_DEVICES]",
			`1:11: secrets[0]: CUDA_VISIBLE_DEVICES is no secret; remove it, or write it in env`},
		{"secret twice", "secrets: [A, A]", `1:14: secrets[1]: "A" is there twice; remove one`},
		{"secret in env", "env: {A: b}\nsecrets: [B, A]",
			`2:14: secrets[1]: A is in env too; remove it from env if it is secret`},
		{"volume", "volumes: [a]",
			`1:11: volumes[0]: "a" is not a volume; write SOURCE:TARGET or SOURCE:TARGET:ro`},
		{"volume source", `volumes: ["data:/data"]`,
			`1:11: volumes[0]: the source "data" is not an absolute path; begin it with / or ~/, as on the host`},
		{"volume of a user", `volumes: ["~bob:/data"]`,
			`1:11: volumes[0]: the source "~bob" is not an absolute path; begin it with / or ~/, as on the host`},
		{"volume target", `volumes: ["/a:data"]`,
			`1:11: volumes[0]: the target "data" is not an absolute path below /; write one such as /data`},
		{"volume root", `volumes: ["/a:/b/.."]`,
			`1:11: volumes[0]: the target "/b/.." is not an absolute path below /; write one such as /data`},
		{"volume option", `volumes: ["/a:/b:rx"]`,
			`1:11: volumes[0]: unknown word "rx"; write ro for read-only, or nothing`},
		{"volume target twice", `volumes: ["/a:/b", "/c:/b/"]`,
			`1:20: volumes[1]: the target "/b/" is there twice; remove one`},
		{"outputs twice", "outputs: [a, a]", `1:14: outputs[1]: "a" is there twice; remove one`},
		{"outputs parent", "outputs: [..]",
			`1:11: outputs[0]: ".." is not a plain name; write the name of one file or folder, without slashes`},
		{"outputs folder", "outputs: [a/]",
			`1:11: outputs[0]: "a/" is not a plain name; write the name of one file or folder, without slashes`},
		{"outputs empty", `outputs: [""]`, `1:11: outputs[0]: is empty`},
		{"outputs null", `outputs: [~]`, `1:11: outputs[0]: has no value`},
		{"outputs long", `outputs: [` + strings.Repeat("a", 256) + `]`,
			`1:11: outputs[0]: the name is longer than 255 bytes`},
		{"container key", "container: {smh: 2g}",
			`1:13: container: unknown key "smh"; did you mean "shm"?`},
		{"container network", "container: {network: host}",
			`1:13: container: unknown key "network"; the keys here are: shm, memory, processes, read-only`},
		{"container is text", "container: 2g",
			`1:12: container: is "2g", not a mapping; write container: {shm: 2g, memory: 16g}`},
		{"size without unit", "container: {shm: 2}",
			`1:18: container.shm: 2 has no unit; write one: 2m or 2g`},
		{"size negative", "container: {shm: -2}",
			`1:18: container.shm: -2 is negative; write a size such as 512m or 2g`},
		{"size", "container: {shm: big}",
			`1:18: container.shm: "big" is not a size; write one such as 512m or 2g`},
		{"memory small", "container: {memory: 1m}",
			`1:21: container.memory: 1m is too small; write 6m or more`},
		{"shm small", "container: {shm: 1k}",
			`1:18: container.shm: 1k is too small; write 64k or more`},
		{"memory large", "container: {memory: 1025t}",
			`1:21: container.memory: 1025t is too large; write 1024t or less`},
		{"read-only", "container: {read-only: yes}",
			`1:24: container.read-only: is "yes", not true or false; write true or false, without quotes`},
		{"read-only quoted", "container: {read-only: 'true'}",
			`1:24: container.read-only: is "true", not true or false; write true or false, without quotes`},
		{"processes", "container: {processes: 0}",
			`1:24: container.processes: 0 processes are too few; write 1 or more, or remove the key`},
		{"processes text", "container: {processes: x}",
			`1:24: container.processes: is "x", not a whole number; write processes: 4096`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, c.text+"\ntasks: {a: {command: [x]}}\n", []string{"tasks.yml:" + c.want})
		})
	}
}

func TestOwnVariables(t *testing.T) {
	t.Parallel()
	for _, name := range definition.OwnVariables() {
		checkFaults(t, "env: {"+name+": x}\ntasks: {a: {command: [x]}}", []string{
			"tasks.yml:1:7: env." + name + ": " + name +
				" is set by the worker for every attempt; choose another name",
		})
	}
}

// The variables of GPUs are the worker's only where tasks get some.
func TestGPUVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "GPU_UUIDS"} {
		for _, gpus := range []string{"", ", gpus: 0"} {
			f := read(t, "tasks:\n  a: {command: [x], env: {"+name+": '0'}"+gpus+"}\n"+
				"  b: {command: [x], gpus: 1}")
			for i, want := range []string{name, ""} {
				problem, remedy := f.GPUVariable(f.Tasks[i])
				if (problem == "") != (want == "") || !strings.Contains(remedy, want) {
					t.Errorf("%s: %q, %q", f.Tasks[i].Name, problem, remedy)
				}
			}
		}
		of := "of tasks with gpus, " + name + " names the GPUs that each is given; "
		checkFaults(t, "tasks:\n  a: {command: [x], gpus: 1, env: {"+name+": '0'}}", []string{
			"tasks.yml:2:36: tasks.a.env." + name + ": " + of +
				"remove it; to choose among GPUs, set it in the shell of run-tasks --local, or " +
				"gpus in cluster.yml for hosts"})
		checkFaults(t, "env: {"+name+": '0'}\ntasks:\n  a: {command: [x]}\n  b: {command: [x], gpus: 1/2}",
			[]string{"tasks.yml:1:7: env." + name + ": " + of +
				"remove it, as b has gpus, or write it in env of the tasks without"})
		read(t, "env: {"+name+": '0'}\ntasks: {a: {command: [x]}}")
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"64k": 64 << 10, "512m": 512 << 20, "2g": 2 << 30, "2G": 2 << 30, "1.5g": 3 << 29,
		"2GiB": 2 << 30, "2gb": 2 << 30,
		"1t": 1 << 40,
	} {
		f := read(t, "container: {shm: "+text+"}\ntasks: {a: {command: [x]}}")
		if f.Container.SharedMemory != want {
			t.Errorf("%s is %d, not %d", text, f.Container.SharedMemory, want)
		}
	}
}
