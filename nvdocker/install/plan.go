package install

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// Options are what a person wants.
type Options struct {
	Source string // address of the packages, laid out as NVIDIA's; "": NVIDIA's
	// of the source, as OpenPGP has it, armored or not; nil: the one that lies at the source
	Key    []byte
	Driver bool // install the driver where there is none
}

// NVIDIA is where the packages of the container toolkit are: their key in gpgkey, and a repository
// for all releases of Debian and Ubuntu in stable/deb.
const NVIDIA = "https://nvidia.github.io/libnvidia-container"

// The files are those of NVIDIA's guide, so that who follows it later overwrites them.
const (
	keyFile    = "/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg"
	sourceFile = "/etc/apt/sources.list.d/nvidia-container-toolkit.list"
	configFile = "/etc/docker/daemon.json"
	specFile   = "/etc/cdi/nvidia.yaml"
	toolkit    = "nvidia-container-toolkit"
)

func (o Options) source() string {
	if o.Source == "" {
		return NVIDIA
	}
	return strings.TrimRight(o.Source, "/")
}

// Step is one change to a host, or a look whether it is as it was meant.
type Step struct {
	ID string `json:"id"`
	// in the imperative: "install nvidia-container-toolkit"
	Title  string `json:"title"`
	Script string `json:"script"`         // for sh, as root
	Input  []byte `json:"-"`              // of the script: text that may be secret, or a key
	Undo   string `json:"undo,omitempty"` // what takes back a script that failed; "": nothing
	// it restarts Docker; the script's arguments are the containers that may stop by it
	Restarts bool `json:"restarts,omitempty"`
}

// Plan is what a host lacks, in order. Without steps it lacks nothing.
type Plan struct {
	Steps []Step   `json:"steps"`
	Notes []string `json:"notes,omitempty"` // what a person should know
	Left  string   `json:"left,omitempty"`  // what to do after the last step; "": nothing
}

// Make decides what a host lacks. The problem is why it cannot get that, and what to do instead;
// then there is no plan.
func Make(f Facts, o Options) (Plan, *nvdocker.Problem) {
	m := maker{f: f, o: o}
	if problem := m.hardware(); problem != nil {
		return Plan{}, problem
	}
	if len(f.GPU.GPUs) == 0 {
		return m.driver()
	}
	if problem := m.docker(); problem != nil {
		return Plan{}, problem
	}
	m.toolkit()
	m.configure()
	if len(m.plan.Steps) == 0 {
		return m.plan, nil
	}
	if problem := m.may(); problem != nil {
		return Plan{}, problem
	}
	m.check()
	return m.plan, nil
}

// maker makes one plan.
type maker struct {
	f       Facts
	o       Options
	config  features
	plan    Plan
	changes bool // daemon.json changes
}

func (m *maker) add(s Step) { m.plan.Steps = append(m.plan.Steps, s) }

// byCDI reports whether the host's Docker knows CDI, turned on or not.
func (m *maker) byCDI() bool { return m.f.Docker.Switch() || m.f.Docker.Tells() }

// missing reports whether dpkg or nobody has the toolkit, or has it half.
func (m *maker) missing() bool {
	half := strings.HasPrefix(m.f.Package, "i") && m.f.Package != "ii" ||
		strings.HasPrefix(m.f.Package, "h") && m.f.Package != "hi"
	return m.f.Docker.Toolkit == "" || half
}

// toolkit plans the packages.
func (m *maker) toolkit() {
	if m.f.Unfinished {
		m.add(Step{ID: "dpkg", Title: "finish what dpkg was interrupted in",
			Script: quiet + "dpkg --configure -a"})
	}
	if !m.missing() {
		return
	}
	if !slices.Contains(m.f.Candidates, toolkit) || m.o.Source != "" {
		m.source()
	}
	m.add(Step{ID: "toolkit", Title: "install " + toolkit,
		Script: quiet + aptGet("install -y --no-install-recommends "+toolkit)})
}

// configure plans what Docker has to know.
func (m *maker) configure() {
	d := m.f.Docker
	if m.byCDI() {
		m.spec()
	}
	off := len(d.SpecDirs) == 0 // from 28.2 on somebody has turned it off
	if !m.config.cdi() && (d.Switch() || d.Tells() && off) {
		text, err := m.config.withCDI()
		if err == nil { // what was read can be written
			m.changes = true
			m.add(Step{ID: "cdi", Title: `turn CDI on in ` + configFile +
				` ("features": {"cdi": true}); all else in it stays`,
				Script: replaceConfig(m.f.ConfigSum), Input: text})
		}
	}
	known := slices.Contains(d.Runtimes, "nvidia")
	if m.config.runtimes["nvidia"] == nil && !known {
		m.changes = true
		m.add(Step{ID: "runtime", Title: "tell Docker of the runtime nvidia, in " + configFile,
			Script: "nvidia-ctk runtime configure --runtime=docker"})
	}
	switch {
	case d.Tells() && !off: // it finds the devices by itself
		if m.changes {
			m.plan.Notes = append(m.plan.Notes,
				"Docker "+d.Version+" hands out GPUs by CDI without a restart; it knows the "+
					"runtime nvidia from its next start")
		}
	case m.changes, off && m.byCDI(), !known:
		m.restart()
	}
}

func (m *maker) restart() {
	title := "restart Docker; no container runs"
	names := m.f.names()
	switch {
	case len(names) > 0 && m.f.LiveRestore:
		title = "restart Docker; its containers go on (live-restore)"
	case len(names) > 0:
		title = "restart Docker, which stops " + strings.Join(names, ", ")
	}
	m.add(Step{ID: "restart", Title: title, Script: restartScript, Restarts: true})
}

// Stops are the containers that a restart of Docker stops.
func (f Facts) Stops() []Container {
	if f.LiveRestore {
		return nil
	}
	return f.Containers
}

func (f Facts) names() []string {
	all := make([]string, len(f.Containers))
	for i, c := range f.Containers {
		all[i] = c.Name
	}
	return all
}

// check plans a container that lists the GPUs.
func (m *maker) check() {
	options := "--gpus all -e NVIDIA_DRIVER_CAPABILITIES=utility"
	if m.byCDI() {
		options = "--device nvidia.com/gpu=all"
	}
	var uuids []string
	for _, d := range nvdocker.Devices(m.f.GPU.GPUs) {
		uuids = append(uuids, d.UUID)
	}
	count := "the GPU"
	if len(uuids) > 1 {
		count = fmt.Sprintf("%d GPUs", len(uuids))
	}
	m.add(Step{ID: "check", Title: "check that a container sees " + count,
		Script: checkScript(options, uuids)})
}
