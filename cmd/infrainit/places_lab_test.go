package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// placed is a tasks.yml whose tasks work in a folder of the project, list what data/set leads to,
// change a file of the project, make one, and end when there is a file named go beside their
// folders.
const placed = `image: %s
volumes: [/usr/share:/data/set:ro]
container: {shm: 32m}
links: {data/set: %s}
tasks:
  waits:
    command: [sh, -c, 'ls ../data/set | wc -l; echo "resumed $RESUMED" | tee -a ../version >>new; until test -e ../../go; do sleep 0.1; done']
    workdir: src
    each: worker
`

// places sweeps a program that works in a folder of the project and uses a path of its host, on a
// cluster with workers on the second and third host whose folder is root. While it runs its outputs
// are fetched, the workers' containers are started anew, one after SIGTERM and one after SIGKILL,
// and the broker's container is replaced.
func (p *laptop) places(image, root string) {
	p.t.Helper()
	workers := p.lab.Hosts[1:]
	if err := os.MkdirAll(filepath.Join(p.work, "digits", "src"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.has("digits/src/other.py", "")
	p.has("digits/version", "one\n")
	p.has("digits/tasks.yml", fmt.Sprintf(placed, image, "/data/none"))
	if r := p.run("run-tasks", "waits"); r.code != 1 || !strings.Contains(r.out+r.err,
		"links: data/set leads to /data/none: no such file or directory") ||
		!strings.Contains(r.out+r.err, `volumes: ["/data/none:/data/none:ro"] and infrainit -f`) {
		p.t.Errorf("a path that no container has: ended with %d:\n%s%s", r.code, r.err, r.out)
	}

	p.has("digits/tasks.yml", fmt.Sprintf(placed, image, "/data/set"))
	sweep := p.command(p.t.Context(), "run-tasks", "-q", "waits")
	var complaint strings.Builder
	sweep.Stderr = &complaint
	if err := sweep.Start(); err != nil {
		p.t.Fatal(err)
	}
	folder := func(host int) string {
		return root + "/hosts/" + workers[host].Name + "/outputs/waits-2"
	}
	began := func(host, attempts int) {
		p.t.Helper()
		eventually(p.t, fmt.Sprintf("attempt %d runs on %s", attempts, workers[host].Name),
			func() bool {
				new := workers[host].Exec(p.t, "sh", "-c", "cat "+folder(host)+"/*/src/new "+
					"2>/dev/null || true")
				return strings.Count(new, "\n") == attempts
			})
	}
	for host := range workers {
		began(host, 1)
	}
	listed := workers[0].Exec(p.t, "sh", "-c", "ls /usr/share | wc -l")
	p.brings("waits-2", len(workers), map[string]string{"parameters.json": "{}\n",
		"stdout.log": listed, "version": "one\nresumed 0\n", "src/new": "resumed 0\n"})
	for host, argv := range [][]string{{"restart"}, {"restart", "-t", "0"}} {
		begun := time.Now()
		workers[host].Exec(p.t, slices.Concat([]string{"docker"}, argv,
			[]string{"mlframework-root-digits-worker"})...)
		ended := time.Now()
		began(host, 2)
		p.t.Logf("docker %v took %.1f s, and %.1f s later its task ran again", argv,
			ended.Sub(begun).Seconds(), time.Since(ended).Seconds())
	}
	p.lab.Hosts[0].Exec(p.t, "docker", "tag", p.broker, "newer:1")
	if r := p.up("-f", "--broker-image", "newer:1"); !strings.Contains(r.err,
		"restart the broker") {
		p.t.Errorf("another broker:\n%s%s", r.err, r.out)
	}
	for host, h := range workers {
		h.Exec(p.t, "su", "anna", "-c", "touch "+folder(host)+"/go")
	}
	if err := sweep.Wait(); err != nil {
		p.t.Fatalf("the sweep ended with %v:\n%s", err, complaint.String())
	}
	said := p.brings("waits-2", len(workers), map[string]string{"parameters.json": "{}\n",
		"stdout.log": listed, "stdout.1.log": listed,
		"version": "one\nresumed 0\nresumed 1\n", "src/new": "resumed 0\nresumed 1\n"})
	if strings.Contains(said, "left out") {
		p.t.Errorf("fetch has something to say of outputs:\n%s", said)
	}
	p.status(0, "all is well")
}

// brings fetches a sweep, and checks that the folder of each of its tasks has these files and
// nothing else. A file .attempt may be among them (docs/states.md): a worker that goes may be
// handed one attempt more before the master knows, which is returned or lost without a start, so
// that the names of the output files do not tell the number of the next.
func (p *laptop) brings(sweep string, tasks int, want map[string]string) (said string) {
	p.t.Helper()
	said = p.must("run-tasks", "fetch", sweep).err
	for i := range tasks {
		dir := filepath.Join(p.work, "outputs", sweep, fmt.Sprint(i))
		have := map[string]string{}
		err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == ".attempt" {
				return err
			}
			name, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			have[name] = string(text)
			return err
		})
		if d := cmp.Diff(want, have); d != "" || err != nil {
			p.t.Errorf("%s/%d: %v (-want +have)\n%s", sweep, i, err, d)
		}
	}
	return said
}
