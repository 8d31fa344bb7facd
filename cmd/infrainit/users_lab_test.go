package main_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rabbitmq/amqp091-go"

	"mlframework/infra/lab"
	"mlframework/sweep/queue/rights"
)

// brokerSays runs rabbitmqctl in the container of a cluster's broker.
func brokerSays(t *testing.T, h *lab.Host, cluster string, args ...string) string {
	t.Helper()
	return h.Exec(t, append([]string{"docker", "exec", "mlframework-" + cluster + "-broker",
		"rabbitmqctl", "-q"}, args...)...)
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

// logsIn has sweepd on a host log in to the broker with the credentials of a folder, and tells what
// it says.
func logsIn(t *testing.T, h *lab.Host, root, folder, broker string) string {
	t.Helper()
	return h.Exec(t, "sh", "-c", root+"/bin/*/sweepd check --broker amqps://"+broker+
		":5671 --broker-name broker.mlframework.internal --credentials "+
		folder+"/credentials --ca "+folder+"/ca.pem 2>&1 || true")
}

// apart checks that every worker has a user of its own at the broker: who leaves the cluster has
// none any more, whatever it has kept. The master is on the first host and workers are on the
// others; then on the first two.
func (p *laptop) apart(t *testing.T, cluster, root string) {
	t.Helper()
	master, leaver := p.lab.Hosts[0], p.lab.Hosts[2]
	if d := cmp.Diff([]string{"master", "worker-host2", "worker-host3"},
		users(t, master, cluster)); d != "" {
		t.Errorf("the broker's users (-want +got):\n%s", d)
	}
	secrets := path.Join(root, "hosts", "host3", "secrets")
	const copied = "/root/copied"
	leaver.Exec(t, "cp", "-rT", secrets, copied)
	if said := logsIn(t, leaver, root, copied, master.Address); said != "the broker answers\n" {
		t.Fatalf("host3, which is in the cluster: %s", said)
	}
	intrudes(t, leaver, copied, master.Address)
	p.up("-f", "-w", "1,2")
	if said := logsIn(t, leaver, root, copied, master.Address); !strings.Contains(said,
		"does not accept user and password") {
		t.Errorf("host3, which has left, logs in with its credentials of before: %s", said)
	}
	if d := cmp.Diff([]string{"master", "worker-host1", "worker-host2"},
		users(t, master, cluster)); d != "" {
		t.Errorf("the broker's users (-want +got):\n%s", d)
	}
	for line := range strings.Lines(brokerSays(t, master, cluster, "list_connections",
		"--no-table-headers", "user")) {
		if user := strings.TrimSpace(line); user == "worker-host3" || user == "" {
			t.Errorf("%s still has a connection", user)
		}
	}
	// files stay on hosts that leave
	leaver.Exec(t, "rm", "-r", copied, path.Dir(root), "/home/anna/.cache")
	reachesTLS(t, master, cluster)
}

// intrudes uses stolen credentials of host3, in a folder there, as an attacker would: with any
// program, from anywhere.
func intrudes(t *testing.T, h *lab.Host, folder, address string) {
	t.Helper()
	user, password, _ := strings.Cut(strings.TrimSpace(h.Exec(t, "cat", folder+"/credentials")),
		":")
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM([]byte(h.Exec(t, "cat", folder+"/ca.pem")))
	conn, err := amqp091.DialConfig("amqps://"+address+":5671/", amqp091.Config{
		SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: user,
			Password: password}},
		TLSClientConfig: &tls.Config{RootCAs: trust, ServerName: "broker.mlframework.internal"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publish := func(exchange, key string) func(*amqp091.Channel) error {
		return func(ch *amqp091.Channel) error {
			if err := ch.Confirm(false); err != nil {
				return err
			}
			closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
			c, err := ch.PublishWithDeferredConfirm(exchange, key, false, false,
				amqp091.Publishing{})
			if err == nil && !c.Wait() {
				return <-closed
			}
			return err
		}
	}
	for what, c := range map[string]struct {
		do  func(*amqp091.Channel) error
		may bool
	}{
		"sends as itself": {publish(rights.FromWorkers, rights.Probe.RoutingKey("host3")),
			true},
		"sends as another": {publish(rights.FromWorkers, rights.Events.RoutingKey("host2")),
			false},
		"gives another a task":     {publish("", rights.TasksQueue("host2")), false},
		"tells another what to do": {publish("", rights.ControlQueue("host2")), false},
		"takes another's tasks": {func(ch *amqp091.Channel) error {
			_, _, err := ch.Get(rights.TasksQueue("host2"), false)
			return err
		}, false},
		"reads what others say": {func(ch *amqp091.Channel) error {
			_, _, err := ch.Get(rights.EventsQueue, false)
			return err
		}, false},
		"deletes another's tasks": {func(ch *amqp091.Channel) error {
			_, err := ch.QueueDelete(rights.TasksQueue("host2"), false, false, false)
			return err
		}, false},
		"makes a queue": {func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare("mine", false, true, false, false, nil)
			return err
		}, false},
		"listens to what is for another": {func(ch *amqp091.Channel) error {
			return ch.QueueBind(rights.TasksQueue("host3"), "#", rights.FromWorkers, false, nil)
		}, false},
	} {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		err = c.do(ch)
		_ = ch.Close() // a refusal has closed it
		if refused := (*amqp091.Error)(nil); c.may && err != nil || !c.may &&
			!(errors.As(err, &refused) && refused.Code == amqp091.AccessRefused) {
			t.Errorf("who has the credentials of host3 %s: %v", what, err)
		}
	}
}

// reachable tries every address of the first argument with every port of the second, all at the
// same time, and prints those that are open.
const reachable = `import concurrent.futures, itertools, socket, sys
def opened(at):
    with socket.socket() as s:
        s.settimeout(2)
        return s.connect_ex((at[0], int(at[1]))) == 0
places = list(itertools.product(sys.argv[1].split(), sys.argv[2].split()))
with concurrent.futures.ThreadPoolExecutor(len(places)) as side:
    for at, is_open in zip(places, side.map(opened, places)):
        if is_open:
            print(at[1])`

// reachesTLS checks that a task on the master's host reaches nothing of the cluster's other
// containers there but the broker's port with TLS: of all ports on which any of them listens.
func reachesTLS(t *testing.T, h *lab.Host, cluster string) {
	t.Helper()
	listening := h.Exec(t, "sh", "-c", `for c in broker master monitor; do
			pid=$(docker inspect -f '{{.State.Pid}}' mlframework-`+cluster+`-$c)
			awk '$4 == "0A" {sub(/.*:/, "", $2); print $2}' /proc/$pid/net/tcp /proc/$pid/net/tcp6
		done | sort -u | while read -r port; do printf '%d\n' 0x$port; done`)
	for _, port := range []string{"4369", "5671", "15692", "25672", "5555"} {
		if !slices.Contains(strings.Fields(listening), port) {
			t.Fatalf("nothing listens on %s: it would be tried in vain\n%s", port, listening)
		}
	}
	addresses := h.Exec(t, "sh", "-c", `for c in broker master monitor; do
			docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' mlframework-`+cluster+`-$c; done`)
	got := h.Exec(t, "docker", "exec", "mlframework-"+cluster+"-worker", "python3", "-c", reachable,
		addresses, listening)
	if got != "5671\n" {
		t.Errorf("of the ports\n%sat\n%sa task reaches %q, not the broker's with TLS alone",
			listening, addresses, got)
	}
}
