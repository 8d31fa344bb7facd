package docker_test

import (
	"reflect"
	"testing"
	"time"

	"mlframework/infra/docker"
)

// full is a Spec with every field set.
func full() docker.Spec {
	return docker.Spec{
		Name: "n", Image: "i", Entrypoint: []string{"e"}, Command: []string{"c"},
		Env: []string{"A=1"}, User: "1:2",
		Hostname: "h", Labels: map[string]string{"a": "1", "b": "2"},
		Mounts: []docker.Mount{{At: "/m", ReadOnly: true, Bind: "/b", Volume: "v",
			Tmpfs: &docker.Tmpfs{Size: 1, Exec: true, Mode: "700", User: "1:2"}}},
		Ports:    []docker.Port{{Host: "127.0.0.1", Port: 1, Container: 2, UDP: true}},
		Networks: []docker.Network{{Name: "net", Aliases: []string{"al"}}},
		Devices: []docker.Device{{Driver: "cdi", IDs: []string{"nvidia.com/gpu=0"},
			Capabilities: []string{"gpu"}}},
		ReadOnly: true, DropCaps: []string{"ALL"}, NoNewPrivileges: true,
		Memory: 1, Shm: 2, Pids: 3, Restart: "always", Grace: time.Second,
		Log: docker.Log{Driver: "local", MaxSize: 1, Files: 2},
	}
}

// TestHashIsKept fails when a release would replace every container of the one before. That may be
// wanted: then hashVersion changes, and these with it.
func TestHashIsKept(t *testing.T) {
	t.Parallel()
	for wanted, s := range map[string]docker.Spec{
		"2abb749635de1a7f1d45ce3a27636ef3": {},
		"cf7e7901b17e5bf7d59935e27723be17": full(),
	} {
		if got := s.Hash(); got != wanted {
			t.Errorf("hash %s, not %s", got, wanted)
		}
	}
	empty := docker.Spec{Env: []string{}, Labels: map[string]string{}, Mounts: []docker.Mount{}}
	if empty.Hash() != (docker.Spec{}).Hash() {
		t.Error("an empty list is not the same as none")
	}
}

// TestEveryFieldChangesTheHash empties one field after the other, at every depth.
func TestEveryFieldChangesTheHash(t *testing.T) {
	t.Parallel()
	whole := full()
	seen := map[string]string{whole.Hash(): "nothing"}
	count := len(leaves(reflect.ValueOf(&whole).Elem(), "Spec"))
	if count < 40 {
		t.Fatalf("only %d fields", count)
	}
	for i := range count {
		s := full()
		leaf := leaves(reflect.ValueOf(&s).Elem(), "Spec")[i]
		if leaf.path == "Spec.Late" { // only known when the container is made
			if s.Late = []string{"--image", "x"}; s.Hash() != whole.Hash() {
				t.Error("what is known late changes the hash: what was planned would be made anew")
			}
			continue
		}
		if leaf.value.IsZero() {
			t.Errorf("%s is not set by full: set it", leaf.path)
			continue
		}
		leaf.value.SetZero()
		if before, known := seen[s.Hash()]; known {
			t.Errorf("without %s the hash is that without %s", leaf.path, before)
		}
		seen[s.Hash()] = leaf.path
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	pulled := docker.Image{ID: "sha256:1", Digests: []string{"other/python@sha256:3",
		"python@sha256:2"}}
	for _, c := range []struct {
		image     docker.Image
		ref, want string
	}{
		{docker.Image{ID: "sha256:1"}, "ours:build-1", ""},
		{pulled, "python:3.12", "sha256:2"},
		{pulled, "python", "sha256:2"},
		{pulled, "renamed:1", "sha256:3"},
		{pulled, "python@sha256:2", "sha256:2"},
	} {
		if got := c.image.Digest(c.ref); got != c.want {
			t.Errorf("%s is %s, not %s", c.ref, got, c.want)
		}
	}
}

func TestAtDigest(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"python":                     "python@sha256:1",
		"python:3.12":                "python@sha256:1",
		"python:3.12@sha256:2":       "python@sha256:1",
		"localhost:5000/a/b":         "localhost:5000/a/b@sha256:1",
		"registry.test:5000/a/b:tag": "registry.test:5000/a/b@sha256:1",
	} {
		if got := docker.AtDigest(ref, "sha256:1"); got != want {
			t.Errorf("%s is %s, not %s", ref, got, want)
		}
	}
}

type leaf struct {
	path  string
	value reflect.Value
}

// leaves are the fields of a struct and of what is in it, lists and pointers also as a whole.
func leaves(v reflect.Value, path string) (all []leaf) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, leaves(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
		return all
	case reflect.Slice:
		if v.Len() > 0 && v.Index(0).Kind() == reflect.Struct {
			all = leaves(v.Index(0), path+"[0]")
		}
	case reflect.Pointer:
		if !v.IsNil() {
			all = leaves(v.Elem(), path)
		}
	}
	return append(all, leaf{path, v})
}
