package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// laptop is a person's machine: a home with ssh's configuration, a folder to work in, and the
// programs.
type laptop struct {
	t                testing.TB
	lab              *lab.Lab
	home, work, path string
	uid              uint32 // who runs the programs; 0 is whoever runs the tests
	training, broker string // images that the hosts have
}

// newLaptop makes a laptop from which a lab's hosts are reached under their names, with the hosts'
// images loaded.
func newLaptop(t testing.TB, hosts int) *laptop {
	t.Helper()
	l := lab.Start(t, lab.Options{Hosts: hosts})
	p := &laptop{t: t, lab: l, path: lab.Programs(t)}
	images := l.Load(t, "training", "broker")
	p.training, p.broker = images[0], images[1]
	p.furnish(l.Key)
	return p
}

// somebodyElse is a laptop of another person.
func (p *laptop) somebodyElse(uid uint32) *laptop {
	p.t.Helper()
	if os.Getuid() != 0 {
		p.t.Skip("NOT TESTED: only root can be somebody else")
	}
	other := *p
	other.uid = uid
	other.furnish(p.lab.Key)
	// Those of the project may be closed to others.
	other.path = filepath.Join(filepath.Dir(other.home), "programs")
	if err := os.CopyFS(other.path, os.DirFS(p.path)); err != nil {
		p.t.Fatal(err)
	}
	return &other
}

// furnish makes the folders.
func (p *laptop) furnish(key string) {
	p.t.Helper()
	root, err := os.MkdirTemp("", "laptop-") // that of the test is closed to others
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = os.RemoveAll(root) })
	p.home, p.work = filepath.Join(root, "home"), filepath.Join(root, "work")
	secret, err := os.ReadFile(key)
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := os.ReadFile(p.lab.SSHConfig)
	if err != nil {
		p.t.Fatal(err)
	}
	known, err := os.ReadFile(p.lab.KnownHosts)
	if err != nil {
		p.t.Fatal(err)
	}
	ours := filepath.Join(p.home, ".ssh", "key")
	theirs := filepath.Join(p.home, ".ssh", "known_hosts")
	text := strings.NewReplacer(key, ours, p.lab.KnownHosts, theirs).Replace(string(config))
	p.write(".ssh/key", string(secret))
	p.write(".ssh/known_hosts", string(known))
	p.write(".ssh/config", text)
	// The ssh of infra-clean takes the home folder from the list of users.
	p.write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F "+p.home+"/.ssh/config \"$@\"\n")
	p.project("digits", `tasks:
  test_echo: {command: [echo, hello], each: worker}
  work:
    command: [sh, -c, "sleep 1; cat version", task]
    parameters: parameters.yml
`)
	if err := filepath.Walk(root, func(path string, _ os.FileInfo, _ error) error {
		return os.Chown(path, int(p.uid), -1)
	}); err != nil && p.uid != 0 {
		p.t.Fatal(err)
	}
}

// write writes a file of the home folder; those in bin are programs.
func (p *laptop) write(name, text string) {
	p.t.Helper()
	mode := os.FileMode(0o600)
	if strings.HasPrefix(name, "bin/") {
		mode = 0o700
	}
	file := filepath.Join(p.home, name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), mode)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// configure puts lines before those of ssh's configuration.
func (p *laptop) configure(lines string) {
	p.t.Helper()
	before, err := os.ReadFile(filepath.Join(p.home, ".ssh/config"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(".ssh/config", lines+string(before))
}

// project makes a project in the folder of work.
func (p *laptop) project(name, tasks string) {
	p.t.Helper()
	dir := filepath.Join(p.work, name)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "tasks.yml"), []byte(tasks), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.has("digits/parameters.yml", "n: [0, 4)\n")
	p.has("digits/version", "one\n")
}

// has makes a file in the folder of work say so.
func (p *laptop) has(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.work, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// result is how a program ended.
type result struct {
	code     int
	out, err string
	took     time.Duration
}

// commandTime bounds a program of the laptop.
const commandTime = 2 * time.Minute

// command is a program on the laptop, in the folder of work.
func (p *laptop) command(ctx context.Context, argv ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if !strings.Contains(argv[0], "/") {
		c = exec.CommandContext(ctx, filepath.Join(p.path, argv[0]), argv[1:]...)
	}
	c.Dir = p.work
	c.Env = append(os.Environ(), "HOME="+p.home, "PATH="+p.home+"/bin:"+p.path+":"+
		os.Getenv("PATH"), "XDG_CACHE_HOME=", "SSH_AUTH_SOCK=")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if p.uid != 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: p.uid, Gid: p.uid}
	}
	return c
}

// run runs a program to its end.
func (p *laptop) run(argv ...string) result {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), commandTime)
	defer stop()
	c := p.command(ctx, argv...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	begun := time.Now()
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%v: %v", argv, err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), said.String(), time.Since(begun)}
}

// hosts is what -a says of all hosts, for one of their users.
func (p *laptop) hosts(user string) string {
	var all []string
	for _, h := range p.lab.Hosts {
		all = append(all, user+"@"+h.Name)
	}
	return strings.Join(all, ",")
}

// images are the options that name the images the hosts have.
func (p *laptop) images() []string {
	return []string{"--image", p.training, "--broker-image", p.broker}
}

// up runs infrainit and ends the test when it does not end with 0.
func (p *laptop) up(args ...string) result {
	p.t.Helper()
	return p.must(append([]string{"infrainit"}, args...)...)
}

// must runs a program that is to end with 0.
func (p *laptop) must(argv ...string) result {
	p.t.Helper()
	r := p.run(argv...)
	if r.code != 0 {
		p.t.Fatalf("%s ended with %d:\n%s%s", strings.Join(argv, " "), r.code, r.err, r.out)
	}
	return r
}

// fails runs infrainit, which is to end with a code and to say so many things on standard error.
func (p *laptop) fails(code int, says []string, args ...string) result {
	p.t.Helper()
	r := p.run(append([]string{"infrainit"}, args...)...)
	if r.code != code {
		p.t.Errorf("infrainit %s ended with %d, not %d:\n%s%s", strings.Join(args, " "), r.code,
			code, r.err, r.out)
	}
	for _, part := range says {
		if !strings.Contains(r.err, part) {
			p.t.Errorf("infrainit %s does not say %q:\n%s", strings.Join(args, " "), part, r.err)
		}
	}
	return r
}
