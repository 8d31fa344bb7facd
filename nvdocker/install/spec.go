package install

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// spec plans the CDI specification: there is none, it is for another driver, whose files are gone,
// or it lacks a GPU that the host has now.
func (m *maker) spec() {
	title, files := "describe the GPUs for CDI in "+specFile, []string{specFile}
	stale, unlisted := m.stale(), m.unlisted()
	switch {
	case len(stale) > 0:
		files = stale
		drivers := map[string]bool{}
		for _, file := range stale {
			drivers[m.f.SpecDrivers[file]] = true
		}
		title = "describe the GPUs anew in " + strings.Join(files, " and ") +
			", which is for driver " + strings.Join(slices.Sorted(maps.Keys(drivers)), " and ")
	case len(unlisted) > 0 && len(m.f.Docker.Specs) > 0:
		if generated := m.generated(); len(generated) > 0 {
			files = generated
		}
		title = "describe the GPUs anew in " + strings.Join(files, " and ") +
			", which lacks " + strings.Join(unlisted, ", ")
	case len(unlisted) > 0:
	case len(m.f.Docker.Specs) > 0 || m.lists():
		return
	}
	var script strings.Builder
	for _, file := range files {
		script.WriteString("mkdir -p " + path.Dir(file) + "\nnvidia-ctk cdi generate --output=" +
			file)
		if path.Ext(file) == ".json" {
			script.WriteString(" --format=json")
		}
		script.WriteString("\n")
	}
	m.add(Step{ID: "spec", Title: title, Script: strings.TrimSuffix(script.String(), "\n")})
}

// stale are the specifications for a driver that is not the one that runs, wherever Docker reads
// them: those in /var/run/cdi come before those in /etc/cdi.
func (m *maker) stale() (files []string) {
	for _, file := range slices.Sorted(maps.Keys(m.f.SpecDrivers)) {
		driver := m.f.SpecDrivers[file]
		if driver != "" && m.f.GPU.Driver != "" && driver != m.f.GPU.Driver && plain(file) {
			files = append(files, file)
		}
	}
	return files
}

// generated are the specifications that have the name which NVIDIA's tools and guide give them.
// Others may be somebody's own.
func (m *maker) generated() (files []string) {
	for _, file := range m.f.Docker.Specs {
		if name := path.Base(file); name == "nvidia.yaml" || name == "nvidia.json" {
			files = append(files, file)
		}
	}
	return files
}

// lists reports whether Docker tells which devices it found by CDI.
func (m *maker) lists() bool { return m.f.Docker.Tells() && len(m.f.Docker.SpecDirs) > 0 }

// unlisted are the GPUs, and the instances of those that are split, that Docker did not find by
// CDI, neither by UUID nor by number; nil where Docker does not tell.
func (m *maker) unlisted() (names []string) {
	if !m.lists() {
		return nil
	}
	for _, d := range nvdocker.Devices(m.f.GPU.GPUs) {
		one := nvdocker.Assignment{Devices: []nvdocker.Device{d}}
		if _, ok := one.CDI(append([]string{}, m.f.Docker.Discovered...)); !ok {
			names = append(names, "nvidia.com/gpu="+d.Number)
		}
	}
	return names
}

// plain reports whether a file's name is one word for sh.
func plain(file string) bool {
	return !strings.ContainsFunc(file, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
			!strings.ContainsRune("/._-", c)
	})
}
