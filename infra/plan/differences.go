package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/nvdocker"
)

// differences returns what a container has otherwise than it is wanted, for people: "image a -> b",
// "slots 3 -> 2". Of variables only names are told, as values may be private. GPUs are those of its
// host.
func differences(old docker.Container, spec docker.Spec, gpus []nvdocker.GPU) (all []string) {
	differs := func(what, was, wanted string) {
		if was != wanted {
			all = append(all, fmt.Sprintf("%s %s -> %s", what, orNone(was), orNone(wanted)))
		}
	}
	differs("image", old.Image, spec.Image)
	was, wanted := options(old.Command), options(spec.Command)
	for _, name := range wanted.names {
		if name != environmentOption { // its parts have words of their own
			differs(name, was.values[name], wanted.values[name])
		}
	}
	devices := gpuDifference(nvdocker.Devices(gpus), old.Devices, spec.Devices)
	if devices != "" {
		all = append(all, devices)
	}
	for _, v := range spec.Env {
		name, _, _ := strings.Cut(v, "=")
		if name == locksVariable || devices != "" && name == visibleVariable { // goes with them
			continue
		}
		if !slices.Contains(old.Env, v) {
			all = append(all, "variable "+name)
		}
	}
	all = append(all, mountDifferences(old.Mounts, spec.Mounts)...)
	differs("memory", gigabytes(old.Memory), gigabytes(spec.Memory))
	if spec.Shm != 0 {
		differs("shm", gigabytes(old.Shm), gigabytes(spec.Shm))
	}
	differs("processes", fmt.Sprint(old.Pids), fmt.Sprint(spec.Pids))
	if len(old.Ports) > 0 { // they are told while it runs
		differs("port", ports(old.Ports), ports(spec.Ports))
	}
	if old.Labels[ConfigLabel] != spec.Labels[ConfigLabel] {
		all = append(all, "configuration")
	}
	if len(all) == 0 && old.Hash != spec.Hash() {
		all = append(all, "made by another release")
	}
	return all
}

// environmentOption is the option by which a worker is told what its project asks for.
const environmentOption = "environment"

// SlotsOf returns with how many slots a worker's container was started; 0 is not known.
func SlotsOf(worker docker.Container) int {
	n, _ := strconv.Atoi(options(worker.Command).values["slots"])
	return max(0, n)
}

// commandOptions are the options of a command line that have values, in their order.
type commandOptions struct {
	names  []string
	values map[string]string
}

func options(command []string) commandOptions {
	o := commandOptions{values: map[string]string{}}
	for i, word := range command {
		name, is := strings.CutPrefix(word, "--")
		if is && i+1 < len(command) && !strings.HasPrefix(command[i+1], "--") {
			o.names = append(o.names, name)
			o.values[name] = command[i+1]
		}
	}
	return o
}

// mountDifferences tells of folders of the host, by where the container has them.
func mountDifferences(old, wanted []docker.Mount) (all []string) {
	find := func(in []docker.Mount, m docker.Mount) bool {
		return slices.ContainsFunc(in, func(o docker.Mount) bool {
			return o.At == m.At && o.Bind == m.Bind && o.Volume == m.Volume &&
				o.ReadOnly == m.ReadOnly
		})
	}
	tell := func(sign string, m docker.Mount) {
		switch {
		case m.At == layout.GPULocksAt: // goes with the GPUs
			return
		case m.At == layout.ProgramAt && sign == "-":
			return
		case m.At == layout.ProgramAt:
			all = append(all, "program")
			return
		}
		text := "volume " + sign + m.Bind + m.Volume + ":" + m.At
		if m.ReadOnly {
			text += ":ro"
		}
		all = append(all, text)
	}
	for _, m := range wanted {
		if m.Tmpfs == nil && !find(old, m) {
			tell("+", m)
		}
	}
	for _, m := range old {
		if !find(wanted, m) {
			tell("-", m)
		}
	}
	return all
}

// ports are the numbers on the host: each is there once for each family of addresses.
func ports(all []docker.Port) string {
	var numbers []string
	for _, p := range all {
		if text := strconv.Itoa(p.Port); !slices.Contains(numbers, text) {
			numbers = append(numbers, text)
		}
	}
	return strings.Join(numbers, ", ")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// gigabytes is a size for people; "" is none.
func gigabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// tasksOf is what a worker runs, for people; "" is nothing.
func (f Found) tasksOf() string {
	const shown = 3
	n := len(f.Running)
	if n == 0 {
		return ""
	}
	text := strings.Join(f.Running[:min(n, shown)], ", ")
	if n > shown {
		text += fmt.Sprintf(" and %d more", n-shown)
	}
	return text
}
