package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/infra/lab"
)

// shell runs a script as root on a host.
func shell(t *testing.T, h *lab.Host, script string) { t.Helper(); h.Exec(t, "sh", "-c", script) }

// TestBadHosts checks that problems with hosts and options are reported before anything is changed.
func TestBadHosts(t *testing.T) {
	t.Parallel()
	p := newLaptop(t, 3)
	master, second, third := p.lab.Hosts[0], p.lab.Hosts[1], p.lab.Hosts[2]
	ask := func(hosts, workers string, more ...string) []string {
		return slices.Concat([]string{"-a", hosts, "-d", "digits", "--name", "c", "-m", "1", "-w",
			workers}, p.images(), more)
	}
	usual := func(more ...string) []string {
		return ask("anna@host1,anna@host2,anna@host3", "2,3", more...)
	}

	t.Run("command lines", func(t *testing.T) { badLines(t, p, ask) })
	t.Run("connections", func(t *testing.T) {
		shell(t, second, "iptables -A INPUT -p tcp --dport 2299 -j DROP")
		third.ChangeHostKeys(t)
		p.fails(4, []string{
			"nowhere: connect to anna@nowhere.invalid: the name nowhere.invalid has no address",
			":2298\n    start sshd there", "ssh-copy-id nosuch@", "did not answer", "known_hosts",
		}, ask("anna@host1,anna@nowhere.invalid,anna@host2:2298,nosuch@host2,anna@host2:2299,anna@host3", "2-6")...)
	})
	shell(t, third, "lab-host keys old")
	t.Run("Docker and folders", func(t *testing.T) {
		shell(t, master, "docker run -d --name squatter -p 5671:1 "+p.training+" sleep 600")
		shell(t, second, "rm /var/run/docker.sock; mkdir -p /home/anna/mlframework/c; echo x "+
			">/home/anna/mlframework/c/mine; chown -R anna /home/anna/mlframework")
		shell(t, third, `printf '#!/bin/sh\nexec /bin/date -d "10 minutes" "$@"\n' >/usr/local/bin/date; chmod 755 /usr/local/bin/date
			mkdir -p /home/anna/mlframework; mount -t tmpfs -o size=100m,noexec none /home/anna/mlframework; chown anna /home/anna/mlframework`)
		p.fails(1, []string{
			"host1: port 5671 of the broker is taken by the container squatter\n    choose " +
				"another with --broker-port",
			"host2: reach docker on host2: Docker is installed but does not answer",
			"host2: /home/anna/mlframework/c is not empty",
			"host3     warning: its clock differs", "host3: its disk is full: ",
			"host3: no program may be run from",
		}, usual("--broker-port", "5671")...)
		r := p.fails(1, []string{"host2     warning: left out: ", "hosts were skipped:"},
			usual("--skip-bad", "--dry-run")...)
		if !strings.Contains(r.out, "host1  start the master") || strings.Contains(r.out,
			"host2") || strings.Contains(r.out, "host3") {
			t.Errorf("the plan is\n%s", r.out)
		}
		shell(t, master, "docker rm -f squatter")
		shell(t, second, `rm -r /home/anna/mlframework
			pid=$(pidof dockerd)
			kill $pid
			while kill -0 $pid 2>/dev/null; do sleep 0.1; done
			lab-host ready`)
		shell(t, third, "rm /usr/local/bin/date; umount /home/anna/mlframework; rmdir "+
			"/home/anna/mlframework")
	})
	t.Run("rights and owners", func(t *testing.T) {
		shell(t, master,
			`mkdir -p /home/anna/ml/c; printf '{"version":1,"cluster":"d","owner":"ben"}\n' >/home/anna/ml/c/.mlframework-root; chown -R anna /home/anna/ml`)
		shell(t, second,
			`useradd -m dora; cp -r /home/anna/.ssh /home/dora; chown -R dora /home/dora; chmod 700 /home/dora`)
		shell(t, third,
			`mkdir /home/anna/ml; docker run -d --name squatter --label mlframework.cluster=c --label mlframework.owner=ben --label mlframework.role=worker `+p.training+` sleep 600`)
		p.fails(1, []string{
			"host1: /home/anna/ml/c belongs to ben's cluster d",
			"host2: reach docker on host2: dora may not use /var/run/docker.sock",
			"host3: the cluster c there is not in /home/anna/ml/c: it belongs to ben",
			"host3: /home/anna/ml/c cannot be made: anna may not write in /home/anna/ml",
		}, ask("anna@host1,dora@host2,anna@host3", "2,3", "-r", "ml")...)
		shell(t, master, "rm -r /home/anna/ml")
		shell(t, second, "userdel -r dora 2>/dev/null || true")
		shell(t, third, "rm -r /home/anna/ml; docker rm -f squatter")
		if r := p.up(ask("carl@host1", "1", "--dry-run")...); !strings.Contains(r.out,
			"start the worker") {
			t.Errorf("with sudo there is no plan: %s", r.out)
		}
	})
	t.Run("no way to the master", func(t *testing.T) {
		shell(t, master, "iptables -A INPUT -s "+second.Address+" -j DROP")
		p.fails(1, []string{"host2: it reaches the master's host under none of ",
			"--master-address", "nothing was changed"}, usual()...)
		if r := p.fails(1, []string{"hosts were skipped:\nhost2: "},
			usual("--skip-bad", "--dry-run")...); !strings.Contains(r.out,
			"host3  start the worker") {
			t.Errorf("the plan is\n%s", r.out)
		}
		shell(t, master, "iptables -D INPUT -s "+second.Address+" -j DROP")
	})
	clean(t, p.lab)
	for _, file := range []string{"cluster.yml", "infra-clean"} {
		if _, err := os.Stat(filepath.Join(p.work, file)); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	t.Run("no image", func(t *testing.T) {
		p.fails(1, []string{"get the image no/such:image", "docker pull no/such:image",
			"rolling back the changes of this run"},
			"-a", "anna@host1,anna@host2", "-d", "digits", "-m", "1", "-w", "2", "--broker-image",
			"no/such:image", "--image", "no/such:image")
		clean(t, p.lab)
	})
}

// badLines are wrong without a look at any host.
func badLines(t *testing.T, p *laptop, ask func(hosts, workers string, more ...string) []string) {
	const three = "anna@host1,anna@host2,anna@host3"
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "infrainit --help", nil},
		{2, `unexpected argument "extra"`, ask(three, "2", "extra")},
		{2, "did you mean --image?", ask(three, "2", "--imagge", "x")},
		{2, "-m: there is no host 9: 3 are named", ask(three, "2", "-m", "9")},
		{2, "-w: there is no host 4", ask(three, "4")},
		{2, "anna@host1 is there already", ask("anna@host1,anna@host1", "2")},
		{2, "name the master's host with -m", append(p.images(), "-a", "anna@host1", "-d", "digits",
			"-w", "1")},
		{3, "there is no such folder", ask(three, "2", "-d", "none")},
		{3, "has no tasks.yml", ask(three, "2", "-d", ".")},
		{3, "nothing names the image", []string{"-a", three, "-d", "digits", "-m", "1", "-w", "1"}},
	} {
		p.fails(c.code, []string{c.says}, c.args...)
	}
}
