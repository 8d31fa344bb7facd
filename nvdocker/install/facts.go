// Package install is how a host gets what its containers need to use NVIDIA GPUs: the facts of a
// host in, the steps that are missing out, each a script, or why it cannot be and what to do
// instead. It carries out none of them.
//
// It imports package nvdocker and the standard library; the commands may import it. Everything in
// it is pure and may be called concurrently.
package install

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// Facts are what a host has.
type Facts struct {
	User string
	Root bool // the user may be root, without a password

	OS, Arch    string // as uname tells them: "Linux", "x86_64"
	ID, Version string // of the distribution: "ubuntu", "24.04"
	System      string // as it calls itself: "Ubuntu 24.04.1 LTS"

	Cards      []string        // NVIDIA's GPUs on the PCI bus
	Driver     bool            // there is an nvidia-smi
	GPU        nvdocker.Report // what the driver says
	SecureBoot bool

	Client      string          // the docker command: its path; "": there is none
	Daemon      string          // dockerd where there is no docker command
	Docker      nvdocker.Docker // what Docker says of itself; without Version it did not answer
	DockerError string          // what it said instead
	Containers  []Container     // that run
	LiveRestore bool            // they go on when Docker restarts

	Config    []byte // daemon.json; nil: there is none
	ConfigSum string // its SHA-256

	Package    string   // how dpkg has the toolkit: "ii", "iU", ...; "" or "un": not at all
	Unfinished bool     // dpkg was interrupted
	Candidates []string // packages that apt could install now
	Sources    []string // files of apt that name the source
	Source     string   // text of the file that Make would write
	KeySum     string   // SHA-256 of the source's key; "": there is none
	Lacks      []string // packages

	// the version of the driver that a CDI specification is for, by file; "": it does not tell
	SpecDrivers map[string]string
}

// Container is one that runs.
type Container struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

//go:embed facts.sh
var factsScript string

// Script is a program for sh, and its arguments, whose output Parse reads.
func Script(o Options) (program string, arguments []string) {
	return factsScript, []string{o.source(), keyFile, sourceFile}
}

// errNoEnd is what Parse says of half an output.
var errNoEnd = errors.New("the host stopped answering while it was asked what it has")

// Parse reads the output of Script; gpu is what the host says of its GPUs.
func Parse(output []byte, gpu nvdocker.Report) (Facts, error) {
	f := Facts{GPU: gpu, SpecDrivers: map[string]string{}}
	done := false
	for line := range strings.Lines(string(output)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		f.line(word, rest)
		done = done || word == "done"
	}
	if !done {
		return f, errNoEnd
	}
	f.Docker.Specs = slices.Sorted(maps.Keys(f.SpecDrivers))
	return f, nil
}

func (f *Facts) line(word, rest string) {
	first, second, _ := strings.Cut(rest, " ")
	texts := map[string]*string{"user": &f.User, "os": &f.OS, "arch": &f.Arch, "id": &f.ID,
		"version": &f.Version, "system": &f.System,
		"docker": &f.Client, "dockerd": &f.Daemon, "dockererror": &f.DockerError,
		"sum": &f.ConfigSum, "key": &f.KeySum}
	flags := map[string]*bool{"root": &f.Root, "smi": &f.Driver, "secureboot": &f.SecureBoot,
		"unfinished": &f.Unfinished}
	lists := map[string]*[]string{"card": &f.Cards, "source": &f.Sources, "lacks": &f.Lacks}
	switch {
	case texts[word] != nil:
		*texts[word] = rest
	case flags[word] != nil:
		*flags[word] = true
	case lists[word] != nil:
		*lists[word] = append(*lists[word], rest)
	}
	switch word {
	case "info":
		f.info(rest)
	case "runs":
		f.Containers = append(f.Containers, Container{ID: first, Name: second})
	case "config":
		f.Config = []byte{}
	case "daemon":
		f.Config = append(append(f.Config, rest...), '\n')
	case "toolkit":
		f.Docker.Toolkit = rest
		if rest == "" {
			f.Docker.Toolkit = "of an unknown version"
		}
	case "package":
		f.Package = strings.TrimSpace(rest)
	case "candidate":
		if second != "" && second != "(none)" {
			f.Candidates = append(f.Candidates, first)
		}
	case "list":
		f.Source += rest + "\n"
	case "spec":
		f.SpecDrivers[first] = second
	}
}

// info reads what Docker says of itself. Before Docker 20.10.8 the command succeeds without an
// engine.
func (f *Facts) info(text string) {
	var i struct {
		ServerVersion      string
		DockerRootDir      string
		Runtimes           map[string]json.RawMessage
		CDISpecDirs        []string
		DiscoveredDevices  []struct{ Source, ID string }
		SecurityOptions    []string
		LiveRestoreEnabled bool
		ServerErrors       []string
	}
	if err := json.Unmarshal([]byte(text), &i); err != nil {
		f.DockerError = "it does not say what it is: " + err.Error()
		return
	}
	f.DockerError = strings.Join(i.ServerErrors, "; ")
	d := &f.Docker
	d.Version, d.Root, d.Runtimes, d.SpecDirs = i.ServerVersion, i.DockerRootDir,
		slices.Sorted(maps.Keys(i.Runtimes)), i.CDISpecDirs
	f.LiveRestore = i.LiveRestoreEnabled
	d.Rootless = slices.ContainsFunc(i.SecurityOptions,
		func(s string) bool { return strings.Contains(s, "name=rootless") })
	for _, device := range i.DiscoveredDevices {
		if device.Source == "cdi" {
			d.Discovered = append(d.Discovered, device.ID)
		}
	}
}

// features is daemon.json as far as it counts here.
type features struct {
	all      map[string]json.RawMessage
	features map[string]json.RawMessage
	runtimes map[string]json.RawMessage
}

// readConfig reads daemon.json. One that is empty says nothing.
func readConfig(text []byte) (c features, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return features{all: map[string]json.RawMessage{}}, nil
	}
	if err := json.Unmarshal(text, &c.all); err != nil {
		return c, err
	}
	if c.all == nil {
		return c, errors.New("it holds no object")
	}
	for name, to := range map[string]*map[string]json.RawMessage{"features": &c.features,
		"runtimes": &c.runtimes} {
		if part := c.all[name]; part != nil {
			if err := json.Unmarshal(part, to); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// cdi reports whether CDI is turned on.
func (c features) cdi() bool { return string(c.features["cdi"]) == "true" }

// withCDI is daemon.json with CDI turned on, and all else in it as it is.
func (c features) withCDI() ([]byte, error) {
	on := maps.Clone(c.features)
	if on == nil {
		on = map[string]json.RawMessage{}
	}
	on["cdi"] = json.RawMessage("true")
	part, err := json.Marshal(on)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(c.all)
	all["features"] = part
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	err = e.Encode(all)
	return b.Bytes(), err
}
