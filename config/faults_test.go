package config_test

import (
	"fmt"
	"strings"
	"testing"

	"mlframework/config"
)

// faulty are texts, each with one kind of fault or warning; the golden file has what is said of
// them.
var faulty = []string{
	"hots: [a]", "zzzzz: 1", "user: anna", "a", "[a]",
	"master: 1\n---\nmaster: 1", "master: [1", "\tmaster: 1", "a: b: c",
	"master:", "master: [1]", "master: {a: b}", "master: \"\"", "master: !x 1",
	"master: \"a\\x1b\"", "master: 1\nmaster: 1", "[a]: b",
	"hosts: {a: b}", "hosts: [a, [b]]", "hosts: [a, b:x, local]",
	"hosts: a,,b", "hosts: [a, a]", "workers: [1, 3-2, x]",
	"hosts: [a]\nmaster: 2\nworkers: [3, 3]", "master: 1,2",
	"folder: /abs", "folder: ~/ml", "folder: ../x", "folder: .",
	"name: a b", "name: -a", "name: " + strings.Repeat("a", 49),
	"name: Digits", "name: a..b", "name: a___b", "name: a.-b", "name: a_",
	"image: a b", "image: -a", "slots: 0", "slots: 1.5", "slots: 5000", "gpus: some",
	"gpus: [0, x]", "gpus: [1, 1]", "gpus: 1.5", "gpus: device=0", "gpus: [none, 0]",
	"gpus: -1", "gpu-busy: yes", "gpu-busy-above: 1",
	"master-address: a:22", "master-address: an na", "master-address: local",
	"host-key-check: maybe", "host-key-check: accept_new",
	"expose-monitor: often", "broker-port: 70000", "monitor-port: x", "drain-timeout: 10",
	"drain-timeout: -1s", "drain-timeout: 4000d", "lease: 2s",
	"overrides: 1", "overrides: {a b: {slots: 1}}", "overrides: {a: 1}",
	"overrides: {a: {slot: 1}}", "overrides: {a: {zzzzzz: 1}}",
	"overrides: {a: {slots: }}", "overrides: {a: {slots: 0}}", "overrides: {a: {port: 0}}",
	"overrides: {a: {user: a b}}", "overrides: {a: {jump: [g, b:x]}}",
	"overrides: {local: {user: anna}}", "overrides: {a: {slots: 1}, A.: {slots: 2}}",
	"overrides: {a: {slots: 1}, a: {slots: 2}}",
	"overrides: {a: {labels: {-x: y}}}", "overrides: {a: {labels: {mlframework.x: y}}}",
	"overrides: {a: {labels: [x]}}", "overrides: {a: {labels: {x: [y]}}}",
	"overrides: {a: {environment: {a-b: c}}}", "overrides: {a: {environment: {WANDB_API_KEY: c}}}",
	"overrides: {a: {environment: {A: }}}",
	"overrides: {a: {volumes: x}}", "overrides: {a: {volumes: [x, x:/y, /x:y, /x:/y:z, /x:/y, " +
		"/z:/y/]}}",
	"overrides: {a: {limits: {memory: 1k, shm: big, pids: 0, cpu: 1}}}",
	"overrides: {a: {limits: {swap: 1g}}}",
	"overrides: {a: &a {<<: *a}}", "overrides: {a: {<<: 1}}", "overrides: {a: {<<: [1]}}",
	"hosts: [a]\noverrides: {b: {slots: 1}}",
}

// Everything that can be wrong in a file is said with its place and a way out.
func TestFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, text := range faulty {
		file := write(t, "cluster.yml", text+"\n")
		_, warnings, err := config.Load(config.Source{File: file, Saved: true})
		fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(text, "\n", " | "))
		if err == nil && len(warnings) == 0 {
			t.Errorf("nothing is said of %q", text)
		}
		for _, w := range warnings {
			fmt.Fprintf(&b, "  warning: %s\n", strings.ReplaceAll(w.String(), file, "cluster.yml"))
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(strings.ReplaceAll(line, file,
					"cluster.yml")))
			}
		}
	}
	said := b.String()
	top, own := config.Keys()
	for name, keys := range map[string][]string{"TOP": top, "HOST": own} {
		list := "the keys here are: " + strings.Join(keys, ", ") + "\n"
		if !strings.Contains(said, list) {
			t.Errorf("nothing says %s", list)
		}
		said = strings.ReplaceAll(said, list, "the keys here are: "+name+"\n")
	}
	golden(t, "faults.txt", said)
}

// All faults of a file come at once, in its order, with and without -f.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	file := write(t, "cluster.yml", "hosts: [a, a:x]\nslots: 0\noverrides:\n  a: {slots: x, prot: "+
		"1}\nmastr: 1\n")
	for _, saved := range []bool{true, false} {
		_, _, err := config.Load(config.Source{File: file, Saved: saved})
		if err == nil {
			t.Fatal("no fault")
		}
		golden(t, "all.txt", strings.ReplaceAll(err.Error(), file, "cluster.yml")+"\n")
	}
}

func TestMergeKeysAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("overrides:\n  h0: &h0 {slots: 1}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "  h%d: &h%d {<<: [*h%d, *h%d]}\n", i, i, i-1, i-1)
	}
	if _, err := config.OptionsOf(".", "", []byte(b.String())); err != nil {
		t.Error("what is merged twice counts once:", err)
	}
	for i := 40; i < 400; i++ {
		fmt.Fprintf(&b, "  h%d: &h%d {<<: [*h%d, *h%d]}\n", i, i, i-1, i-1)
	}
	_, err := config.OptionsOf(".", "", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "merge keys repeat more than 100000 values") {
		t.Error(err)
	}
}
