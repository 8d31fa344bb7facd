package definition

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// maxBytes is far above any tasks.yml that a person writes, and keeps what a stranger can make us
// parse small.
const maxBytes = 1 << 20

// read reads the text of a tasks.yml. The error is a fault.List of every fault in the order of the
// text, and then the *File is nil. A text that is not YAML has one fault, without a column. Warnings
// may come with and without an error.
func (r *reader) read(data []byte) (*File, fault.List, error) {
	root, ok := r.parse(yamlfile.WithoutMark(string(data)))
	if !ok {
		return nil, nil, r.faults
	}
	f := new(File)
	r.readFile(f, r.at(root, "", "tasks: {hello: {command: [echo, hello]}}"))
	r.warnings.Sort()
	if err := r.faults.Err(); err != nil {
		return nil, r.warnings, err
	}
	return f, r.warnings, nil
}

// reader collects what is wrong in one file.
type reader struct {
	file             string
	project          string // the folder that paths are looked for in; "" when it is not known
	reserved         []string
	faults, warnings fault.List
	budget           int  // nodes that may still be visited, see maxNodes
	stopped          bool // the budget is spent: what follows would be faults of our stopping
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
		{"tasks", "tasks: {hello: {command: [echo, hello]}}", readTasks},
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
		r.fault(root, "there are no tasks",
			"write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init")
	}
	if build, found := present["build"]; found && present["image"].Node != nil {
		r.fault(build, "image is set too, and only one of them can be", "remove one")
	}
	r.checkSecrets(f, present["secrets"])
	r.checkPaths(f, present["copy"])
}

func readTasks(r *reader, f *File, v value) {
	entries, ok := r.mapping(v)
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.fault(v, "there are no tasks", "write "+v.example)
	}
	folded := map[string]string{}
	for _, e := range entries {
		if r.checkDefinitionName(e, folded) {
			folded[strings.ToLower(e.name)] = e.name
		}
		f.Tasks = append(f.Tasks, r.readTask(e))
	}
}

// parse returns the one document of the file.
func (r *reader) parse(text string) (*yaml.Node, bool) {
	whole := value{}
	if len(text) > maxBytes {
		r.fault(whole, fmt.Sprintf("is longer than %d bytes", maxBytes),
			"keep data and scripts in files of their own")
		return nil, false
	}
	documents, wrong := yamlfile.Read(text, 2)
	if wrong != nil {
		wrong.File = r.file
		r.faults.Add(*wrong)
		return nil, false
	}
	if len(documents) == 0 || yamlfile.IsNull(documents[0].Content[0]) {
		r.fault(whole, "is empty",
			"write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init")
		return nil, false
	}
	if len(documents) > 1 {
		r.fault(value{Node: documents[1].Content[0]}, "a second document begins here",
			"remove the line --- before it")
		return nil, false
	}
	return documents[0].Content[0], true
}
