package infra_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra"
	"mlframework/infra/broker"
	"mlframework/infra/plan"
)

// secretFiles returns the files with secrets of the cluster, by HOST FOLDER/NAME.
func (f *fakeHosts) secretFiles() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for name := range f.hosts {
		l := f.root(name)
		for _, dir := range []string{l.Authority(), l.Broker(), l.Master(), l.Monitor(),
			l.Login(name)} {
			items, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				f.t.Fatal(err)
			}
			for _, i := range items {
				if !i.Type().IsRegular() {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, i.Name()))
				if err != nil {
					f.t.Fatal(err)
				}
				all[name+" "+filepath.Base(dir)+"/"+i.Name()] = string(text)
			}
		}
	}
	return all
}

// kept returns the secrets that the master's host keeps.
func (f *fakeHosts) kept(master string) broker.Secrets {
	f.t.Helper()
	text, err := os.ReadFile(f.root(master).Secrets())
	if err != nil {
		f.t.Fatal(err)
	}
	s, err := broker.ParseSecrets(text)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// agree checks that all hosts have what the master's host keeps, and that no rotation is
// unfinished.
func (f *fakeHosts) agree(master string, workers ...string) {
	f.t.Helper()
	s := f.kept(master)
	if s.Pending || len(s.Previous) > 0 {
		f.t.Errorf("pending: %v, and %d bytes of old certificates", s.Pending, len(s.Previous))
	}
	has := func(dir string, files []broker.File) {
		f.t.Helper()
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(dir, file.Name))
			if err != nil || !bytes.Equal(text, file.Data) {
				f.t.Errorf("%s is another one: %v", filepath.Join(dir, file.Name), err)
			}
		}
	}
	has(f.root(master).Broker(), s.Files())
	for name, user := range map[string]string{f.root(master).Master(): broker.Master} {
		files, err := s.Client(user)
		if err != nil {
			f.t.Fatal(err)
		}
		has(name, files)
	}
	for _, w := range workers {
		files, err := s.Client(broker.WorkerUser(w))
		if err != nil {
			f.t.Fatal(err)
		}
		has(f.root(w).Login(w), files)
	}
}

// ids returns the ids of a host's containers, by name.
func (e *engine) ids() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string]string{}
	for name, c := range e.containers {
		all[name] = c.ID
	}
	return all
}

// told returns how many commands with an argument were run in the broker's container.
func (e *engine) told(argument string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, argv := range e.execs {
		if argv[0] == "mlframework-c-broker" && slices.Contains(argv, argument) {
			n++
		}
	}
	return n
}

// What the broker is told with.
const (
	closes      = "log in again, with the new password"
	definitions = broker.Folder + "/" + broker.DefinitionsFile
)

func TestRotate(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	before, containers := f.secretFiles(), f.hosts["gpu1"].engine.ids()
	var dry strings.Builder
	r := f.request("gpu1", "gpu2")
	r.Rotate, r.DryRun = true, &dry
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"make new passwords and certificates",
		"write the worker's credentials", "close all connections",
		"make a new token of the monitor", "restart the monitor"} {
		if !strings.Contains(dry.String(), step) {
			t.Errorf("the plan has no %q:\n%s", step, dry.String())
		}
	}
	if d := cmp.Diff(before, f.secretFiles()); d != "" || f.hosts["gpu1"].engine.told(closes) > 0 {
		t.Errorf("a dry run has changed something: %s", d)
	}
	r.DryRun = nil
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	f.agree("gpu1", "gpu2")
	after := f.secretFiles()
	for name, text := range before {
		same := after[name] == text
		stays := slices.Contains([]string{"rabbitmq.conf", "enabled_plugins", ".erlang.cookie"},
			filepath.Base(name))
		if same != stays {
			t.Errorf("%s is as before: %v", name, same)
		}
	}
	if len(strings.TrimSpace(after["gpu1 monitor/token"])) < 26 {
		t.Error("the monitor has no new token")
	}
	if d := cmp.Diff(containers, f.hosts["gpu1"].engine.ids()); d != "" {
		t.Errorf("containers were replaced: %s", d)
	}
	if n := f.hosts["gpu1"].engine.told(closes); n != 1 {
		t.Errorf("the connections were closed %d times", n)
	}
	result, err := f.up(f.request("gpu1", "gpu2"))
	if err != nil || result.Plan.Changes {
		t.Errorf("then there is still something to do: %v, %v", result.Plan.Steps, err)
	}
}

// Before the broker has the new passwords, an interruption leaves everything as it was. Later the
// next call finishes what was begun.
func TestRotationThatIsInterrupted(t *testing.T) {
	t.Parallel()
	for step, back := range map[string]bool{
		"make new passwords and certificates": true, "write the worker's credentials": true,
		"write the broker's secrets": true, "have the broker take": false, "make a new token": false,
		"forget the certificates": false,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2")
			if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
				t.Fatal(err)
			}
			before := f.secretFiles()
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := errors.New("gone")
			f.did = func(what string) {
				if strings.HasPrefix(what, step) {
					cancel(gone)
				}
			}
			r := f.request("gpu1", "gpu2")
			r.Rotate = true
			if _, err := infra.Up(ctx, r, f.options()); !errors.Is(err, gone) {
				t.Fatalf("%v", err)
			}
			f.did = nil
			after := f.secretFiles()
			const keeps = "gpu1 authority/secrets.json"
			after[keeps] = strings.Replace(after[keeps], `,"pending":true`, "", 1)
			if d := cmp.Diff(before, after); back != (d == "") {
				t.Errorf("all is as before: %v", d == "")
			}
			said := slices.ContainsFunc(f.warned, func(w string) bool {
				return strings.Contains(w, "infrainit -f goes on")
			})
			if unfinished := len(f.kept("gpu1").Previous) > 0; said != unfinished {
				t.Errorf("there is something to finish: %v; warned was %q", unfinished, f.warned)
			}
			told := f.hosts["gpu1"].engine.told(definitions)
			if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
				t.Fatal(err)
			}
			f.agree("gpu1", "gpu2")
			// It may have restarted with the files that were taken back.
			if n := f.hosts["gpu1"].engine.told(definitions) - told; back && n != 1 {
				t.Errorf("the broker was told %d times of the passwords of before", n)
			}
		})
	}
}

// A call that is killed takes nothing back.
func TestRotationThatFails(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	before := f.secretFiles()
	r := f.request("gpu1", "gpu2", "gpu3")
	r.Rotate = true
	f.hosts["gpu1"].engine.exit = 69
	_, err := f.up(r)
	if err == nil || !strings.Contains(err.Error(), "ended with 69") {
		t.Errorf("%v", err)
	}
	const worker = "gpu2 secrets/credentials"
	if !f.kept("gpu1").Pending || f.secretFiles()[worker] == before[worker] {
		t.Error("it has gone back, although the broker may have the new passwords")
	}
	f.hosts["gpu1"].engine.exit = 0
	// One that is off meanwhile is told of, and comes back with the next call that reaches it.
	f.away["gpu3"] = true
	r.SkipBad = true
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(f.warned, func(w string) bool {
		return strings.Contains(w, "which the broker refuses from now on")
	}) {
		t.Errorf("%q", f.warned)
	}
	f.agree("gpu1", "gpu2")
	delete(f.away, "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	f.agree("gpu1", "gpu2", "gpu3")
}

// cutOff begins a rotation that ends with the step that makes the new passwords, and takes nothing
// back.
func (f *fakeHosts) cutOff(hosts ...string) {
	f.t.Helper()
	ctx, cancel := context.WithCancelCause(f.t.Context())
	gone := errors.New("gone")
	f.did = func(what string) {
		if strings.HasPrefix(what, "make new passwords") {
			cancel(gone)
		}
	}
	defer func() { f.did = nil }()
	r := f.request(hosts...)
	r.Rotate, r.Keep = true, true
	if _, err := infra.Up(ctx, r, f.options()); !errors.Is(err, gone) {
		f.t.Fatalf("%v", err)
	}
}

// Whoever joins does not touch the other hosts, which would be locked out.
func TestNobodyJoinsDuringARotation(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	f.cutOff("gpu1", "gpu2")
	before := f.secretFiles()
	joins := f.request("gpu1", "gpu3")
	joins.Master = ""
	_, err := f.up(joins)
	p, refused := errors.AsType[plan.Problems](err)
	if !refused || len(p) != 1 || p[0].Host != "gpu1" ||
		!strings.Contains(p[0].Remedy, "infrainit -f") {
		t.Errorf("%v", err)
	}
	if d := cmp.Diff(before, f.secretFiles()); d != "" {
		t.Errorf("something has changed: %s", d)
	}
	if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.up(joins); err != nil {
		t.Error(err)
	}
	f.agree("gpu1", "gpu2", "gpu3")
}

// A rotation that begins by itself, as the authority is old, tells whom it leaves behind.
func TestRotationThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3")); err != nil {
		t.Fatal(err)
	}
	before := f.kept("gpu1").Passwords[broker.WorkerUser("gpu3")]
	f.away["gpu3"] = true
	r := f.request("gpu1", "gpu2", "gpu3")
	r.SkipBad = true
	o := f.options()
	leaves := func() (hosts []string) {
		f.told = nil
		result, err := infra.Up(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		result.Cluster.Close()
		for _, w := range f.told {
			if strings.Contains(w.what, "which the broker refuses from now on") {
				hosts = append(hosts, w.host)
			}
		}
		return hosts
	}
	if hosts := leaves(); len(hosts) > 0 {
		t.Errorf("nothing is made anew, and warned is of %v", hosts)
	}
	o.Now = func() time.Time { return time.Now().AddDate(9, 6, 0) }
	if d := cmp.Diff([]string{"gpu3"}, leaves()); d != "" {
		t.Errorf("warned is of others (-want +got)\n%s", d)
	}
	if f.kept("gpu1").Passwords[broker.WorkerUser("gpu3")] == before {
		t.Error("the passwords are those of before")
	}
}

// The ends of certificates are seen where services answer, and only once an hour.
func TestCertificates(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1")
	if _, err := f.up(f.request("gpu1")); err != nil {
		t.Fatal(err)
	}
	s := f.kept("gpu1")
	pair, err := tls.X509KeyPair(s.Server.Certificate, s.Server.Key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake() // the client reports its errors
			_ = conn.Close()
		}
	}()
	now := time.Now()
	o := f.options()
	o.Now = func() time.Time { return now }
	look := func(c *infra.Cluster) []infra.Certificate { return c.Certificates(t.Context()) }
	open := func() *infra.Cluster {
		t.Helper()
		c, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c",
			Master: "gpu1", Targets: f.request("gpu1").Targets}, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	c := open()
	c.Record.BrokerPort = 1
	if got := look(c); len(got) > 0 {
		t.Errorf("nothing answers, and seen is %v", got)
	}
	want := []infra.Certificate{{Service: "broker", Until: pair.Leaf.NotAfter}}
	c = open()
	c.Record.BrokerPort = listener.Addr().(*net.TCPAddr).Port
	if d := cmp.Diff(want, look(c)); d != "" {
		t.Error(d)
	}
	_ = listener.Close()
	now = now.Add(59 * time.Minute)
	if d := cmp.Diff(want, look(c)); d != "" {
		t.Error(d)
	}
	now = now.Add(time.Minute)
	if got := look(c); len(got) > 0 {
		t.Errorf("after an hour, seen is %v", got)
	}
}
