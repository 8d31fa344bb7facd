package broker_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/broker"
)

func TestImageFaults(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string][]string{
		"version 4.2.0\n":              nil,
		"version 3.10.8\n":             nil,
		"version 5.0.0.ez\n":           nil,
		"version development":          nil,
		"version 3.9.29\n":             {"its RabbitMQ is 3.9, and 3.10 or newer is needed"},
		"version 2.12":                 {"its RabbitMQ is 2.12, and 3.10 or newer is needed"},
		"missing TLS\nversion 4.2.0\n": {"it has no TLS"},
		"missing docker-entrypoint.sh\nunwritable /var/lib/rabbitmq\n" +
			"refuses \nUsage\n\nOnly root or rabbitmq should run rabbitmqctl\n": {
			"it has no docker-entrypoint.sh", "user 1000 may not write in /var/lib/rabbitmq",
			"its RabbitMQ does not run as user 1000: Only root or rabbitmq should run rabbitmqctl"},
		"missing rabbitmq-server\nmissing rabbitmqctl\nrefuses sh: 13: rabbitmqctl: not found\n": {
			"it has no rabbitmq-server", "it has no rabbitmqctl"},
	} {
		if d := cmp.Diff(want, broker.ImageFaults(printed, "1000")); d != "" {
			t.Errorf("%q (-want +got)\n%s", printed, d)
		}
	}
}

// What is asked in a container is understood by a shell, whatever is there.
func TestLook(t *testing.T) {
	t.Parallel()
	argv, _ := broker.Look()
	empty := t.TempDir()
	argv[len(argv)-1] = filepath.Join(empty, "nosuch")
	sh, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(sh, argv[1:]...)
	c.Env = []string{"PATH=" + empty}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	faults := strings.Join(broker.ImageFaults(string(out), "1000"), "; ")
	if want := "it has no getent; it has no cut; it has no tr; it has no docker-entrypoint.sh; " +
		"it has no rabbitmq-server; it has no rabbitmqctl; " +
		"user 1000 may not write in " + argv[len(argv)-1]; faults != want {
		t.Errorf("%s\n%s", faults, out)
	}
}
