package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// imageLine is the line of a tasks.yml that names the image.
var imageLine = regexp.MustCompile(`(?m)^image: .*\n`)

// image has the tasks.yml of a project, which is to say otherwise as text, or to stay as it is,
// name an image. It returns what the file says then.
func (p *laptop) image(project, text, image string) string {
	p.t.Helper()
	if text == "" {
		read, err := os.ReadFile(filepath.Join(p.work, project, "tasks.yml"))
		if err != nil {
			p.t.Fatal(err)
		}
		text = string(read)
	}
	text = "image: " + image + "\n" + imageLine.ReplaceAllString(text, "")
	p.has(filepath.Join(project, "tasks.yml"), text)
	return text
}

// drifts changes what tasks.yml says of the workers' containers while a cluster runs: nothing runs,
// and nothing is brought, until infrainit has made the workers so.
func (p *laptop) drifts(tasks string) {
	p.t.Helper()
	other := "another:1"
	for _, h := range p.lab.Hosts {
		h.Exec(p.t, "docker", "tag", p.training, other)
	}
	before := p.lab.Hosts[0].Exec(p.t, "readlink", "/home/anna/ml/root-digits/current")
	refused := func(says ...string) {
		p.t.Helper()
		for _, argv := range [][]string{{"run-tasks", "run_training"}, {"run-tasks", "--missing",
			"run_training"},
			{"run-tasks", "extend", "run_training-2"}, {"update-files"}} {
			r := p.run(argv...)
			for _, part := range append(says, "infrainit -f") {
				if r.code != 3 || !strings.Contains(r.err, part) {
					p.t.Errorf("%v ended with %d and does not say %q:\n%s%s", argv, r.code, part,
						r.err, r.out)
				}
			}
		}
		r := p.run("check-status")
		for _, part := range append(says, "infrainit -f") {
			if r.code != 1 || !strings.Contains(r.out, part) {
				p.t.Errorf("check-status ended with %d and does not say %q:\n%s%s", r.code, part,
					r.out, r.err)
			}
		}
	}
	p.has("digits/parameters.yml", "batchsize: 100\nepoch: 2\nunit: 8\nlr: [0.03, 0.05, 0.1, "+
		"0.15, 0.2]\n")
	p.image("digits", tasks, other)
	refused("image: running " + p.training + ", tasks.yml has " + other)
	p.has("digits/tasks.yml", "volumes: [/usr/share:/data/set:ro]\ncontainer: {shm: 32m}\n"+
		p.image("digits", tasks, other))
	refused("image: running "+p.training+", tasks.yml has "+other,
		"volumes: + /usr/share:/data/set:ro", "shm: running the default, tasks.yml has 32m")
	if after := p.lab.Hosts[0].Exec(p.t, "readlink",
		"/home/anna/ml/root-digits/current"); after != before {
		p.t.Errorf("files were brought: %s, %s before", after, before)
	}
	p.up("-f")
	p.status(0, "all is well")
	p.must("update-files")
	p.must("run-tasks", "-q", "run_training")
	var shown struct{ Images []string }
	if err := json.Unmarshal([]byte(p.must("run-tasks", "show", "--json").out),
		&shown); err != nil {
		p.t.Fatal(err)
	}
	if len(shown.Images) != 1 || !strings.HasPrefix(shown.Images[0], other+"@sha256:") {
		p.t.Errorf("the sweep ran in %q", shown.Images)
	}
	if says := p.must("run-tasks", "show").out; !slices.ContainsFunc(strings.Split(says, "\n"),
		func(line string) bool {
			return strings.HasPrefix(line, "image ") && strings.Contains(line, other+"@sha256:")
		}) {
		p.t.Errorf("show does not say in which image:\n%s", says)
	}
	if r := p.must("run-tasks", "--missing", "run_training"); !strings.Contains(r.err,
		"nothing is missing") {
		p.t.Errorf("the same image, and something is missing:\n%s%s", r.err, r.out)
	}
}
