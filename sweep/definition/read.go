package definition

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// maxBytes is far above any tasks.yml that a person writes, and keeps what a stranger can make us
// parse small.
const maxBytes = 1 << 20

const exampleTasks = "tasks: {hello: {command: [echo, hello]}}"

// read reads the text of a tasks.yml. The error is a fault.List of every fault in the order of the
// text, and then the *File is nil. A text that is not YAML has one fault, without a column.
// Warnings may come with and without an error. Project is the folder that paths are looked for in;
// "" when it is not known.
func read(file string, data []byte, project string, reserved []string) (*File, fault.List, error) {
	if len(data) > maxBytes {
		return nil, nil, fault.List{{File: file,
			Problem: fmt.Sprintf("is longer than %d bytes", maxBytes),
			Remedy:  "keep data and scripts in files of their own"}}
	}
	y, root := yamlfile.Open(file, data)
	r := &reader{Reader: y, project: project, reserved: reserved}
	f := new(File)
	switch {
	case root != nil:
		r.readFile(f, r.Value(root.Content[0], "", exampleTasks))
	case len(r.Faults) == 0:
		r.Fault(value{}, "is empty", "write "+exampleTasks+", or see run-tasks init")
	}
	r.Warnings.Sort()
	if err := r.Faults.Err(); err != nil {
		return nil, r.Warnings, err
	}
	return f, r.Warnings, nil
}

type reader struct {
	*yamlfile.Reader
	project  string
	reserved []string
	// gpuVariables are those of env that tasks with GPUs must not have, not yet judged
	gpuVariables []variableAt
}

// fileKeys returns the keys at the top of the file. (A function, as the readers refer to both
// tables.)
func fileKeys() []key[File] {
	return []key[File]{
		{"image", "image: python:3.12-slim", readImage},
		{"build", "build: .", readBuild},
		{"env", "env: {DATA_DIR: /data}", readEnv},
		{"secrets", "secrets: [WANDB_API_KEY]", readSecrets},
		{"volumes", `volumes: ["/data/mnist:/data:ro"]`, readVolumes},
		{"container", "container: {shm: 2g, memory: 16g}", readContainer},
		{"outputs", "outputs: [figures]", readOutputs},
		{"link", "link: [data]", func(r *reader, f *File, v value) { f.Link = r.projectPaths(v) }},
		{"copy", "copy: [weights.bin]", func(r *reader, f *File, v value) {
			f.Copy = r.projectPaths(v)
		}},
		{"links", "links: {data: /data/mnist}", readLinks},
		{"notify", notifyExample, readNotify},
		{"tasks", exampleTasks, readTasks},
	}
}

func (r *reader) readFile(f *File, root value) {
	present, ok := object(r, root, f, fileKeys(), place{
		here: "at the top of the file", others: names(taskKeys()),
		there: "write it inside a task, below tasks",
	})
	if !ok {
		return
	}
	if _, found := present["tasks"]; !found {
		r.Fault(root, "there are no tasks", "write "+exampleTasks+", or see run-tasks init")
	}
	if build, found := present["build"]; found && present["image"].Node != nil {
		r.Fault(build, "image is set too, and only one of them can be", "remove one")
	}
	r.checkSecrets(f, present["secrets"])
	r.checkPaths(f, present["copy"])
	if i := slices.IndexFunc(f.Tasks, func(t Task) bool { return t.GPUs.Count > 0 }); i >= 0 {
		r.refuseGPUVariables(r.gpuVariables, "remove it, as "+f.Tasks[i].Name+" has gpus, "+
			"or write it in env of the tasks without")
	}
}

func readTasks(r *reader, f *File, v value) {
	entries, ok := r.Mapping(v)
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.Fault(v, "there are no tasks", "write "+v.Example)
	}
	folded := map[string]string{}
	for _, e := range entries {
		if r.checkDefinitionName(e, folded) {
			folded[strings.ToLower(e.Name)] = e.Name
		}
		f.Tasks = append(f.Tasks, r.readTask(e))
	}
}
