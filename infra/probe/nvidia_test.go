package probe_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/probe"
)

// What Docker needs to hand out GPUs is asked of the host: NVIDIA's toolkit, its hook, and the
// names that devices have in CDI.
func TestNVIDIAToolkit(t *testing.T) {
	needLinux(t)
	for _, program := range []string{"nvidia-ctk", "nvidia-container-runtime-hook"} {
		if _, err := exec.LookPath(program); err == nil {
			t.Skip("NOT TESTED: this machine has " + program)
		}
	}
	const yaml = `---
cdiVersion: 0.5.0
containerEdits:
  hooks:
  - args: [nvidia-ctk, hook, update-ldcache, --folder, /usr/lib]
    hookName: createContainer
    path: /usr/bin/nvidia-ctk
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: "0"
- containerEdits: {}
  name: GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2
- name: "1:0"
- name: all
kind: nvidia.com/gpu
`
	const json = `{"kind":"nvidia.com/gpu","devices":[{"name":"2","containerEdits":{}},` +
		`{"containerEdits":{},"name":"MIG-1f/2"}]}`
	type facts struct {
		Toolkit     string
		Hook        bool
		Specs, Name []string
	}
	for name, c := range map[string]struct {
		files map[string]string // below the root of the host
		want  facts
	}{
		"nothing": {},
		"a toolkit and its hook": {map[string]string{
			"bin/nvidia-ctk":                    "#!/bin/sh\necho NVIDIA Container Toolkit CLI version 1.17.8\n",
			"bin/nvidia-container-runtime-hook": "#!/bin/sh\n"},
			facts{Toolkit: "1.17.8", Hook: true}},
		"one that is broken": {map[string]string{"bin/nvidia-ctk": "#!/bin/sh\nexit 1\n"},
			facts{Toolkit: "of an unknown version"}},
		"specifications": {map[string]string{"cdi/nvidia.yaml": yaml, "cdi/more.json": json,
			"cdi/other.yaml": "kind: example.com/nvidia.com-gpu\ndevices:\n- name: \"7\"\n"},
			facts{Specs: []string{"cdi/nvidia.yaml", "cdi/more.json"},
				Name: []string{"0", "GPU-67a571b1-79ee-1016-8ea3-c1fff3f1c1d2", "1:0", "2",
					"MIG-1f/2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(root, file)
				err := os.MkdirAll(filepath.Dir(file), 0o700)
				if err == nil {
					err = os.WriteFile(file, []byte(text), 0o700)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
			moved := func(ctx context.Context, script string, args []string, w io.Writer) error {
				return shell(ctx, strings.ReplaceAll(script, "/etc/cdi/", root+"/cdi/"), args, w)
			}
			f, err := probe.Host(t.Context(), moved, "ml", nil, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			for i, file := range f.CDISpecs {
				f.CDISpecs[i] = strings.TrimPrefix(file, root+"/")
			}
			got := facts{f.Toolkit, f.NVIDIAHook, f.CDISpecs, f.CDINames}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A hook counts unless it is known to have come after Docker's start.
func TestNVIDIAHook(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"": false, "hook 100 200\n": true,
		"hook 200 100\n": false, "hook 0 100\n": true, "hook - 100\n": true, "hook  100\n": true,
		"hook 200 \n": true} {
		answer := func(_ context.Context, _ string, _ []string, w io.Writer) error {
			_, err := io.WriteString(w, line+"done yes\n")
			return err
		}
		f, err := probe.Host(t.Context(), answer, "ml", nil, time.Now)
		if err != nil || f.NVIDIAHook != want {
			t.Errorf("%q: %v, %v", line, f.NVIDIAHook, err)
		}
	}
}
