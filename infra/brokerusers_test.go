package infra_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rabbitmqctl is a likeness of RabbitMQ's that knows its users alone. That of 3.12 and earlier
// reads its standard input to the end, whatever it is told to do.
const rabbitmqctl = `#!/bin/sh
cat >/dev/null
case $2 in
list_users) sed 's/$/\t[]/' "$USERS" ;;
delete_user) sed -i "/^$3$/d" "$USERS" ;;
esac`

// The users of all workers that leave together are deleted.
func TestUsersOfWorkersThatLeave(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2", "gpu3", "gpu4", "gpu5")
	if _, err := f.up(f.request("gpu1", "gpu2", "gpu3", "gpu4", "gpu5")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.up(f.request("gpu1", "gpu3")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	users := filepath.Join(dir, "users")
	for file, text := range map[string]string{filepath.Join(dir, "rabbitmqctl"): rabbitmqctl,
		users: "master\nworker-gpu2\nworker-gpu3\nworker-gpu4\nworker-gpu5\n"} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	argv := slices.Clone(f.hosts["gpu1"].engine.execs[len(f.hosts["gpu1"].engine.execs)-1])
	cmd := exec.CommandContext(t.Context(), argv[1], argv[2:]...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "USERS="+users)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile(users)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"master", "worker-gpu3"}
	if d := cmp.Diff(want, strings.Fields(string(text))); d != "" {
		t.Errorf("the broker's users (-want +got):\n%s", d)
	}
}
