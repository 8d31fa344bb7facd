package definition

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// leastMemory is what Docker accepts:
// https://docs.docker.com/engine/containers/resource_constraints/.
const leastMemory = 6 << 20

const maxProcesses = 1 << 22 // Linux's own limit of process ids

func readImage(r *reader, f *File, v value) {
	text, ok := r.Word(v)
	if ok && (strings.ContainsAny(text, " ") || text[0] == '-') {
		r.Wrong(v, fault.Quote(text)+" is not a valid image name")
		return
	}
	f.Image = text
}

func readBuild(r *reader, f *File, v value) { f.Build = r.projectPath(v, "folder") }

func readEnv(r *reader, f *File, v value) {
	f.Env = r.environment(v, func(key string, at fault.Fault) {
		if f.Places == nil {
			f.Places = Places{}
		}
		f.Places[key] = at
	})
}

// environment reads variables, and notes where those with names in braces stand.
func (r *reader) environment(v value, place func(key string, at fault.Fault)) (all []Variable) {
	entries, _ := r.Mapping(v)
	for _, e := range entries {
		if r.variable(e.Key, e.Name) && slices.Contains(gpuVariables, e.Name) {
			r.gpuVariables = append(r.gpuVariables, variableAt{e.Key, e.Name})
		}
		if yamlfile.IsNull(e.Value.Node) {
			r.Fault(e.Key, "has no value", fmt.Sprintf(`write %s: "" for an empty one`,
				fault.Printable(e.Name)))
			continue
		}
		text, ok := r.Text(e.Value)
		if strings.ContainsRune(text, 0) {
			r.Fault(e.Value, "holds a NUL character, which no variable can", "")
		}
		if !ok {
			continue
		}
		r.checkBraces(e.Value, text)
		if task.HasPlaceholders(text) {
			place("env."+e.Name, r.FaultAt(e.Value, "", ""))
		}
		all = append(all, Variable{Name: e.Name, Value: text})
	}
	return all
}

// variableAt is where a variable is set.
type variableAt struct {
	at   value
	name string
}

// refuseGPUVariables refuses variables that a worker sets for attempts with GPUs.
func (r *reader) refuseGPUVariables(all []variableAt, remedy string) {
	for _, v := range all {
		r.Fault(v.at, gpuVariableProblem(v.name), remedy)
	}
}

func gpuVariableProblem(name string) string {
	return "of tasks with gpus, " + name + " names the GPUs that each is given"
}

// GPUVariable returns what is wrong with the environment of a definition if its tasks get GPUs, and
// a remedy; "": nothing.
func (f *File) GPUVariable(t Task) (problem, remedy string) {
	for _, v := range slices.Concat(t.Env, f.Env) {
		if slices.Contains(gpuVariables, v.Name) {
			return gpuVariableProblem(v.Name), "remove " + v.Name + " from env in " + FileName
		}
	}
	return "", ""
}

func readSecrets(r *reader, f *File, v value) {
	for _, e := range r.words(v) {
		if strings.Contains(e.Value, "=") {
			name, _, _ := strings.Cut(e.Value, "=")
			r.Fault(e, "a secret's value does not belong in this file",
				"write the name only: "+fault.Printable(name))
		} else if slices.Contains(gpuVariables, e.Value) {
			r.Fault(e, e.Value+" is no secret", "remove it, or write it in env")
		} else if r.variable(e, e.Value) {
			f.Secrets = append(f.Secrets, e.Value)
		}
	}
}

// checkSecrets refuses a variable that is in env and in secrets: one of the two values would be
// lost.
func (r *reader) checkSecrets(f *File, secrets value) {
	all := slices.Clone(f.Env)
	for _, t := range f.Tasks {
		all = append(all, t.Env...)
	}
	for _, name := range f.Secrets {
		if slices.ContainsFunc(all, func(v Variable) bool { return v.Name == name }) {
			i := slices.IndexFunc(secrets.Content, func(n *yaml.Node) bool {
				return r.Value(n, "", "").Value == name
			})
			r.Fault(r.Value(secrets.Content[i], fmt.Sprintf("%s[%d]", secrets.Path, i), ""),
				name+" is in env too", "remove it from env if it is secret")
		}
	}
}

func readVolumes(r *reader, f *File, v value) {
	targets := map[string]bool{}
	for _, e := range r.words(v) {
		parts := strings.Split(e.Value, ":")
		switch {
		case len(parts) < 2 || len(parts) > 3:
			r.Fault(e, fault.Quote(e.Value)+" is not a volume",
				"write SOURCE:TARGET or SOURCE:TARGET:ro")
		case !path.IsAbs(parts[0]) && parts[0] != "~" && !strings.HasPrefix(parts[0], "~/"):
			r.Fault(e, "the source "+fault.Quote(parts[0])+" is not an absolute path",
				"begin it with / or ~/, as on the host")
		case !path.IsAbs(parts[1]) || path.Clean(parts[1]) == "/":
			r.Fault(e, "the target "+fault.Quote(parts[1])+" is not an absolute path below /",
				"write one such as /data")
		case len(parts) == 3 && parts[2] != "ro" && parts[2] != "rw":
			r.Fault(e, "unknown word "+fault.Quote(parts[2]), "write ro for read-only, or nothing")
		case targets[path.Clean(parts[1])]:
			r.Fault(e, "the target "+fault.Quote(parts[1])+" is there twice", "remove one")
		default:
			targets[path.Clean(parts[1])] = true
			f.Volumes = append(f.Volumes, e.Value)
		}
	}
}

func readOutputs(r *reader, f *File, v value) {
	for _, e := range r.words(v) {
		name := e.Value
		switch {
		case strings.Contains(name, "/") || name == "." || name == "..":
			r.Fault(e, fault.Quote(name)+" is not a plain name",
				"write the name of one file or folder, without slashes")
		case len(name) > maxOutputName:
			r.Fault(e, fmt.Sprintf("the name is longer than %d bytes", maxOutputName), "")
		default:
			f.Outputs = append(f.Outputs, name)
		}
	}
}

// containerKeys returns what a project may ask for or relax; nothing else of a container is its
// own.
func containerKeys() []key[Container] {
	return []key[Container]{
		{"shm", "shm: 2g", func(r *reader, c *Container, v value) {
			c.SharedMemory = r.size(v, 64<<10)
		}},
		{"memory", "memory: 16g", func(r *reader, c *Container, v value) {
			c.Memory = r.size(v, leastMemory)
		}},
		{"processes", "processes: 4096", readProcesses},
		{"read-only", "read-only: false", func(r *reader, c *Container, v value) {
			b, ok := r.boolean(v)
			c.WritableRoot = ok && !b
		}},
	}
}

func readContainer(r *reader, f *File, v value) {
	object(r, v, &f.Container, containerKeys(), place{})
}

func readProcesses(r *reader, c *Container, v value) {
	faults := len(r.Faults)
	c.Processes = r.count(v, maxProcesses)
	if c.Processes == 0 && len(r.Faults) == faults {
		r.Fault(v, "0 processes are too few", "write 1 or more, or remove the key")
	}
}
