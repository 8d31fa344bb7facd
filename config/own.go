package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/infra/host"
)

// hostKey is one key of a host's entry.
type hostKey struct {
	name     string
	read     func(t *text, h *Host, n node)
	byRemote bool // means nothing for this machine
}

func hostKeys() []hostKey {
	return []hostKey{
		{"user", readUser, true},
		{"port", func(t *text, h *Host, n node) { h.Address.Port = read(t, n, parsePort) }, true},
		{"key", func(t *text, h *Host, n node) { h.Key = t.at.resolve(read(t, n, parsePath)) }, true},
		{"jump", readJump, true},
		{"slots", func(t *text, h *Host, n node) { h.Slots = read(t, n, parseSlots) }, false},
		{"gpus", func(t *text, h *Host, n node) { h.GPUs = read(t, n, parseGPUs) }, false},
		{"image", func(t *text, h *Host, n node) { h.Image = read(t, n, parseImage) }, false},
		{"labels", readLabels, false},
		{"environment", readVariables, false},
		{"volumes", readVolumes, false},
		{"limits", readLimits, false},
	}
}

func overrideNames() []string {
	var names []string
	for _, k := range hostKeys() {
		names = append(names, k.name)
	}
	return names
}

func (t *text) readOverrides(n node) {
	type match struct {
		address host.Address
		anyPort bool
	}
	seen := map[match]int{}
	entries, _ := t.mapping(n, "overrides: {gpu1: {slots: 2}}")
	for _, e := range entries {
		a, err := host.Parse(e.name)
		if problems := ofHost(err); len(problems) > 0 {
			t.fault(e.key, problems[0].text, problems[0].remedy)
			continue
		}
		// A port that is left out is any port, not 22.
		key := match{a.Normal(), a.Port == 0}
		if i, twice := seen[key]; twice {
			t.fault(e.key, fmt.Sprintf("is the same host as %s in line %d", t.overrides[i].text, t.overrides[i].place.line), "put the two together")
			continue
		}
		seen[key] = len(t.overrides)
		o := override{text: printable(e.name), place: e.key.place, match: a, given: map[string]place{}}
		t.readOverride(&o, e.node)
		t.overrides = append(t.overrides, o)
	}
}

func (t *text) readOverride(o *override, n node) {
	keys := hostKeys()
	entries, _ := t.mapping(n, printable(o.text)+": {slots: 2}")
	for _, e := range entries {
		i := slices.IndexFunc(keys, func(k hostKey) bool { return k.name == e.name })
		switch {
		case i < 0:
			t.unknown(e.key, e.name, overrideNames())
		case keys[i].byRemote && o.match.Local():
			t.fault(e.key, "this machine is reached without ssh", "remove it")
		case !isNull(e.node.Node):
			o.given[e.name] = e.node.place
			keys[i].read(t, &o.host, e.node)
		default:
			t.fault(e.node, "has no value", "write one, or remove the key")
		}
	}
}

// read reads a word by one of the parsers of options; what is wrong is the zero value.
func read[T any](t *text, n node, parse func(string) (T, problem)) T {
	var zero T
	word, ok := t.word(n)
	if !ok {
		return zero
	}
	v, p := parse(word)
	if p.text != "" {
		t.fault(n, p.text, p.remedy)
		return zero
	}
	return v
}

func readUser(t *text, h *Host, n node) {
	h.Address.User = read(t, n, func(word string) (string, problem) {
		a, err := host.Parse(word + "@host")
		if err != nil || a.User != word {
			return "", problem{text: quote(word) + " is no name of a user", remedy: "write the user on that host"}
		}
		return word, problem{}
	})
}

// readJump accepts one host, or several to go through, as a list or apart by commas.
func readJump(t *text, h *Host, n node) {
	v, ok := t.option(option{list: true}, n)
	if !ok {
		return
	}
	list, err := host.ParseList(v.words)
	for _, p := range ofHost(err) {
		t.faults.Add(v.faultOf(p))
	}
	h.Jump = list
}

var labelName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

func readLabels(t *text, h *Host, n node) {
	h.Labels = t.pairs(n, func(key node, name string) {
		if !labelName.MatchString(name) {
			t.fault(key, quote(name)+" is no name of a label", "write letters, digits and . _ - /, a letter or digit first and last")
		} else if strings.HasPrefix(name, "mlframework.") {
			t.fault(key, "labels that begin with mlframework. are the cluster's own", "choose another name")
		}
	})
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretName   = regexp.MustCompile(`(?i)(token|password|passwd|secret|api_?key|access_?key|credentials?)$`)
)

func readVariables(t *text, h *Host, n node) {
	h.Environment = t.pairs(n, func(key node, name string) {
		if !variableName.MatchString(name) {
			t.fault(key, quote(name)+" is no name for a variable", "begin it with a letter or _, go on with letters, digits and _")
		} else if secretName.MatchString(name) {
			t.warnings.Add(t.faultAt(key, "secrets have no place in this file", "name it under secrets in tasks.yml, and set it where run-tasks is called"))
		}
	})
}

// pairs reads a mapping of names to texts; an empty text is one.
func (t *text) pairs(n node, check func(key node, name string)) (list []Pair) {
	entries, _ := t.mapping(n, "{NAME: value}")
	for _, e := range entries {
		check(e.key, e.name)
		if e.node.Kind == yaml.ScalarNode && e.node.Value == "" && !isNull(e.node.Node) {
			list = append(list, Pair{Name: e.name})
		} else if word, ok := t.word(e.node); ok {
			list = append(list, Pair{e.name, word})
		}
	}
	return list
}

func readVolumes(t *text, h *Host, n node) {
	targets := map[string]bool{}
	elements, _ := t.sequence(n)
	for _, e := range elements {
		word, ok := t.word(e)
		if !ok {
			continue
		}
		target, p := parseVolume(word)
		if p.text == "" && targets[target] {
			p = problem{text: "the target " + quote(target) + " is there twice", remedy: "remove one"}
		}
		targets[target] = true
		if p.text != "" {
			t.fault(e, p.text, p.remedy)
			continue
		}
		h.Volumes = append(h.Volumes, word)
	}
}

func parseVolume(text string) (target string, p problem) {
	parts := strings.Split(text, ":")
	switch {
	case len(parts) < 2 || len(parts) > 3:
		return "", problem{text: quote(text) + " is no volume", remedy: "write SOURCE:TARGET or SOURCE:TARGET:ro"}
	case !path.IsAbs(parts[0]) && parts[0] != "~" && !strings.HasPrefix(parts[0], "~/"):
		return "", problem{text: "the source " + quote(parts[0]) + " is not an absolute path", remedy: "begin it with / or ~/, as on the host"}
	case !path.IsAbs(parts[1]) || path.Clean(parts[1]) == "/":
		return "", problem{text: "the target " + quote(parts[1]) + " is not an absolute path below /", remedy: "write one such as /data"}
	case len(parts) == 3 && parts[2] != "ro" && parts[2] != "rw":
		return "", problem{text: "unknown word " + quote(parts[2]), remedy: "write ro for read-only, or nothing"}
	}
	return path.Clean(parts[1]), problem{}
}

// What Docker accepts at least (https://docs.docker.com/engine/containers/resource_constraints/), a page of /dev/shm that
// programs can begin with, and Linux's own limit of process ids.
const (
	leastMemory  = 6 << 20
	leastShared  = 64 << 10
	maxProcesses = 1 << 22
)

func readLimits(t *text, h *Host, n node) {
	known := []string{"memory", "shm", "pids"}
	entries, _ := t.mapping(n, "limits: {memory: 64g, shm: 16g, pids: 4096}")
	for _, e := range entries {
		switch e.name {
		case "memory":
			h.Limits.Memory = read(t, e.node, func(s string) (int64, problem) { return parseSize(s, leastMemory) })
		case "shm":
			h.Limits.SharedMemory = read(t, e.node, func(s string) (int64, problem) { return parseSize(s, leastShared) })
		case "pids":
			h.Limits.Processes = read(t, e.node, func(s string) (int, problem) { return parseCount(s, "processes", 1, maxProcesses) })
		default:
			t.unknown(e.key, e.name, known)
		}
	}
}
