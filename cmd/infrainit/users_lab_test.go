package main_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/lab"
)

// brokerSays runs rabbitmqctl in the container of a cluster's broker.
func brokerSays(t *testing.T, h *lab.Host, cluster string, args ...string) string {
	t.Helper()
	return h.Exec(t, append([]string{"docker", "exec", "mlframework-" + cluster + "-broker", "rabbitmqctl", "-q"}, args...)...)
}

// users are those of a cluster's broker, sorted.
func users(t *testing.T, h *lab.Host, cluster string) (names []string) {
	t.Helper()
	for line := range strings.Lines(brokerSays(t, h, cluster, "list_users", "--no-table-headers")) {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// logsIn has sweepd on a host log in to the broker with the credentials of a folder, and tells what it says.
func logsIn(t *testing.T, h *lab.Host, root, folder, broker string) string {
	t.Helper()
	return h.Exec(t, "sh", "-c", root+"/bin/*/sweepd check --broker amqps://"+broker+":5671 --broker-name broker.mlframework.internal --credentials "+
		folder+"/credentials --ca "+folder+"/ca.pem 2>&1 || true")
}

// apart checks that every worker has a user of its own at the broker: who leaves the cluster has none any more, whatever it has
// kept. The master is on the first host and workers are on the others; then on the second alone.
func (p *laptop) apart(t *testing.T, cluster, root string) {
	t.Helper()
	master, leaver := p.lab.Hosts[0], p.lab.Hosts[2]
	if d := cmp.Diff([]string{"master", "worker-host2", "worker-host3"}, users(t, master, cluster)); d != "" {
		t.Errorf("the broker's users (-want +got):\n%s", d)
	}
	secrets := path.Join(root, "hosts", "host3", "secrets")
	const copied = "/root/copied"
	leaver.Exec(t, "cp", "-r", secrets, copied)
	if said := logsIn(t, leaver, root, copied, master.Address); said != "the broker answers\n" {
		t.Fatalf("host3, which is in the cluster: %s", said)
	}
	p.up("-f", "-w", "2")
	if said := logsIn(t, leaver, root, copied, master.Address); !strings.Contains(said, "does not accept user and password") {
		t.Errorf("host3, which has left, logs in with its credentials of before: %s", said)
	}
	if d := cmp.Diff([]string{"master", "worker-host2"}, users(t, master, cluster)); d != "" {
		t.Errorf("the broker's users (-want +got):\n%s", d)
	}
	for line := range strings.Lines(brokerSays(t, master, cluster, "list_connections", "--no-table-headers", "user")) {
		if user := strings.TrimSpace(line); user != "master" && user != "worker-host2" {
			t.Errorf("%s still has a connection", user)
		}
	}
	leaver.Exec(t, "rm", "-r", copied)
}
