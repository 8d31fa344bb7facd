package main_test

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"mlframework/infra/lab"
)

// guarded checks what the containers of a cluster may, and that nothing that others of the hosts
// can see has a secret of it. Its folder on the hosts is root; the master is on the first of them.
func guarded(t *testing.T, p *laptop, root string) {
	t.Helper()
	secrets := secretsOf(t, p.lab.Hosts[0], root)
	said := ""
	for _, ask := range []string{"--json", "--audit", "--logs master", "--logs broker",
		"--logs monitor", "--logs host2"} {
		r := p.status(0, "", strings.Fields(ask)...)
		said += r.out + r.err
		if ask == "--audit" && (!strings.Contains(r.out, "infrainit ") || !strings.Contains(r.out,
			"join ")) {
			t.Errorf("the audit has no infrainit, or no worker that joined:\n%s%s", r.out, r.err)
		}
	}
	for _, ask := range []string{"ls --json", "workers --json", "broker"} {
		r := p.must(append([]string{"run-tasks"}, strings.Fields(ask)...)...)
		said += r.out + r.err
	}
	for name, s := range secrets {
		if strings.Contains(said, s) {
			t.Errorf("the API or a log shows the secret %s", name)
		}
	}
	for _, h := range p.lab.Hosts {
		seen := h.Exec(t, "sh", "-c", `for c in $(docker ps -aq); do docker inspect $c; docker logs $c 2>&1; done
			ps axwwe; docker volume inspect $(docker volume ls -q); docker image inspect $(docker images -q)`)
		for name, s := range secrets {
			if strings.Contains(seen, s) {
				t.Errorf("%s shows the secret %s", h.Name, name)
			}
		}
		if open := h.Exec(t, "sh", "-c", "find "+root+" $(ls -d "+path.Dir(root)+"/.*.lock"+
			" 2>/dev/null) -type f -perm /077 -not -path '*/bin/*' -not -path '*/releases/*'"); open != "" {
			t.Errorf("on %s others may read\n%s", h.Name, open)
		}
		var all []inspected
		if err := json.Unmarshal([]byte(h.Exec(t, "sh", "-c", "docker inspect $(docker ps -q)")),
			&all); err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			c.check(t)
		}
	}
}

// secretsOf are all texts in the file of what the broker was made with, and the monitor's token.
func secretsOf(t *testing.T, h *lab.Host, root string) map[string]string {
	t.Helper()
	var kept any
	if err := json.Unmarshal([]byte(h.Exec(t, "cat", root+"/authority/secrets.json")),
		&kept); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	gather(kept, "", secrets)
	secrets["token"] = strings.TrimSpace(h.Exec(t, "cat", root+"/monitor/token"))
	if len(secrets) < 6 {
		t.Fatalf("there are %d secrets only", len(secrets))
	}
	return secrets
}

func gather(value any, name string, into map[string]string) {
	switch v := value.(type) {
	case string:
		into[name] = v
	case map[string]any:
		for key, one := range v {
			gather(one, name+"/"+key, into)
		}
	}
}

// inspected is what docker inspect says of a container, as far as rights go.
type inspected struct {
	Name   string
	Config struct{ User string }
	Mounts []struct{ Source string }

	HostConfig struct {
		CapAdd, CapDrop, SecurityOpt    []string
		Privileged, ReadonlyRootfs      bool
		PidMode, IpcMode, NetworkMode   string
		Memory, PidsLimit               int64
		UTSMode, UsernsMode, CgroupMode string
	}
}

func (c inspected) check(t *testing.T) {
	t.Helper()
	h := c.HostConfig
	ours := map[string]bool{
		"it is not root": c.Config.User != "" && !strings.HasPrefix(c.Config.User,
			"0") && !strings.HasPrefix(c.Config.User, "root"),
		"no capabilities": len(h.CapAdd) == 0 && slices.Equal(h.CapDrop,
			[]string{"ALL"}) && !h.Privileged,
		"no new privileges":     slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}),
		"its root is read-only": h.ReadonlyRootfs,
		"no namespaces of the host": h.PidMode != "host" && h.IpcMode != "host" &&
			h.NetworkMode != "host" && h.UTSMode != "host" && h.UsernsMode != "host",
		"limited memory, processes":  h.Memory > 0 && h.PidsLimit > 0,
		"not the socket of Docker":   true,
		"nothing of the host's root": true,
	}
	for _, m := range c.Mounts {
		if strings.HasSuffix(m.Source, "docker.sock") {
			ours["not the socket of Docker"] = false
		}
		if m.Source == "/" || m.Source == "/var/run" || m.Source == "/run" {
			ours["nothing of the host's root"] = false
		}
	}
	for what, is := range ours {
		if !is {
			t.Errorf("%s: not so: %s", c.Name, what)
		}
	}
}
