package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mlframework/config"
)

// Environment is what a project asks of the container of one host's worker. Its worker is started
// with it and reports it, so that what runs can be compared with what the project's tasks.yml says
// later. What cluster.yml sets for the host in its place is not in it: Own names the keys. It is
// JSON; a field is never renamed, and readers ignore those that they do not know.
type Environment struct {
	Image        string   `json:"image,omitempty"`
	Build        string   `json:"build,omitempty"`
	Recipe       string   `json:"recipe,omitempty"` // as in Project
	Volumes      []string `json:"volumes,omitempty"`
	Shm          int64    `json:"shm,omitempty"`
	Memory       int64    `json:"memory,omitempty"`
	Pids         int64    `json:"pids,omitempty"`
	WritableRoot bool     `json:"writable_root,omitempty"`
	Own          []string `json:"own,omitempty"` // "image", "shm", "memory", "processes"
}

// environment is what the project asks of the container of a worker.
func (p Project) environment(w config.HostOptions) Environment {
	e := Environment{Image: p.Image, Build: p.Build, Recipe: p.Recipe, Volumes: p.Volumes,
		Shm: p.Shm, Memory: p.Memory, Pids: p.Pids,
		WritableRoot: p.WritableRoot}
	if w.Image != "" {
		e.Image, e.Build, e.Recipe, e.Own = "", "", "", append(e.Own, "image")
	}
	if w.Limits.SharedMemory != 0 {
		e.Shm, e.Own = 0, append(e.Own, "shm")
	}
	if w.Limits.Memory != 0 {
		e.Memory, e.Own = 0, append(e.Own, "memory")
	}
	if w.Limits.Processes != 0 {
		e.Pids, e.Own = 0, append(e.Own, "processes")
	}
	return e
}

// String is the Environment as a worker is started with it.
func (e Environment) String() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // nothing in it can fail
	}
	return string(text)
}

// ParseEnvironment reads what a worker reports.
func ParseEnvironment(text string) (e Environment, err error) {
	return e, json.Unmarshal([]byte(text), &e)
}

// Differences tells what of a container is not as the project wants it now, in words; none: it is.
func (p Project) Differences(e Environment) (all []string) {
	differs := func(key, runs, wanted string) {
		if runs != wanted && !slices.Contains(e.Own, key) {
			all = append(all, fmt.Sprintf("%s: running %s, tasks.yml has %s", key, runs, wanted))
		}
	}
	differs("image", imageText(e.Image, e.Build), imageText(p.Image, p.Build))
	if p.Build != "" && p.Build == e.Build && p.Recipe != e.Recipe {
		all = append(all, "build: the Dockerfile or a file that it copies has changed since the "+
			"image was built")
	}
	var volumes []string
	for _, v := range p.Volumes {
		if !slices.Contains(e.Volumes, v) {
			volumes = append(volumes, "+ "+v)
		}
	}
	for _, v := range e.Volumes {
		if !slices.Contains(p.Volumes, v) {
			volumes = append(volumes, "- "+v)
		}
	}
	if len(volumes) > 0 {
		all = append(all, "volumes: "+strings.Join(volumes, ", "))
	}
	differs("shm", sizeText(e.Shm), sizeText(p.Shm))
	differs("memory", sizeText(e.Memory), sizeText(p.Memory))
	differs("processes", countText(e.Pids), countText(p.Pids))
	differs("read-only", fmt.Sprint(!e.WritableRoot), fmt.Sprint(!p.WritableRoot))
	return all
}

func imageText(image, build string) string {
	switch {
	case build != "":
		return "the image built from " + build
	case image == "":
		return "none"
	}
	return image
}

// sizeText is bytes as tasks.yml has them.
func sizeText(bytes int64) string {
	switch {
	case bytes == 0:
		return "the default"
	case bytes%(1<<30) == 0:
		return fmt.Sprintf("%dg", bytes>>30)
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%dm", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%dk", bytes>>10)
	}
	return fmt.Sprint(bytes)
}

func countText(n int64) string {
	if n == 0 {
		return "the default"
	}
	return fmt.Sprint(n)
}
