package main_test

import (
	"strings"
	"testing"

	"mlframework/infra/lab"
	"mlframework/infra/plan"
)

// containers are those of a host that have a label of clusters, as "NAME ID STARTED".
func containers(t *testing.T, h *lab.Host) string {
	t.Helper()
	return h.Exec(t, "sh", "-c", `docker ps -aq --filter label=`+plan.ClusterLabel+` |
		xargs -r docker inspect -f '{{.Name}} {{slice .Id 0 12}} {{.State.StartedAt}} {{.State.Status}}' | sort`)
}

// all are the containers of all hosts, by host.
func all(t *testing.T, l *lab.Lab) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, h := range l.Hosts {
		found[h.Name] = containers(t, h)
	}
	return found
}

// remains is what a host has of clusters: in Docker, and of files in the homes of its users.
func remains(t *testing.T, h *lab.Host) string {
	t.Helper()
	return strings.TrimSpace(h.Exec(t, "sh", "-c", `docker ps -aq --filter label=`+plan.ClusterLabel+` | sed 's/^/container /'
		docker ps -a --format '{{.Names}}' | sed -n 's/^mlframework-/container &/p'
		docker network ls --format '{{.Name}}' | sed -n 's/^mlframework-/network &/p'
		docker images --format '{{.Repository}}:{{.Tag}}' | grep -v ^mlframework-lab- | sed -n '/^mlframework-\|none/s/^/image /p'
		docker volume ls --format '{{.Name}}' | sed 's/^/volume /'
		find /home/*/ -mindepth 1 -not -path '*/.ssh*' -not -name '.bash*' -not -name .profile`))
}

// clean ends a test where hosts have anything of clusters.
func clean(t *testing.T, l *lab.Lab) {
	t.Helper()
	for _, h := range l.Hosts {
		if left := remains(t, h); left != "" {
			t.Errorf("%s has:\n%s", h.Name, left)
		}
	}
}

// ofRoot are the files in homes that belong to root.
func ofRoot(t *testing.T, h *lab.Host) string {
	t.Helper()
	return h.Exec(t, "find", "/home", "-mindepth", "2", "-user", "root")
}
