package infra_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An image that cannot be the broker's is found where it is, before it is sent anywhere and before
// anything that runs is touched.
func TestAnImageThatCannotBeTheBroker(t *testing.T) {
	t.Parallel()
	const other = "ours:1"
	for name, c := range map[string]struct {
		has  func(*fakeHosts) *engine // who has it
		sent bool
	}{
		"the laptop has it": {func(f *fakeHosts) *engine { return f.laptop }, false},
		"the master's host has it": {func(f *fakeHosts) *engine { return f.hosts["gpu1"].engine },
			true},
		"the registry has it": {func(f *fakeHosts) *engine { return f.hosts["gpu1"].engine },
			true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2")
			if _, err := f.up(f.request("gpu1", "gpu2")); err != nil {
				t.Fatal(err)
			}
			at := c.has(f)
			if name == "the registry has it" {
				at.registry = map[string]string{other: "1"}
			} else {
				at.put(fakeImage{ref: other, version: "1"})
			}
			at.says = "missing docker-entrypoint.sh\nrefuses Only root or rabbitmq should run " +
				"rabbitmqctl\n"
			before := f.ids()
			r := f.request("gpu1", "gpu2")
			r.BrokerImage = other
			_, err := f.up(r)
			for _, part := range []string{"gpu1: ",
				"ours:1 cannot be the broker's: it has no docker-entrypoint.sh; " +
					"its RabbitMQ does not run as user ",
				": Only root or rabbitmq should run rabbitmqctl\n" +
					"    name one like rabbitmq:4.2 with --broker-image"} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %v", part, err)
				}
			}
			if d := cmp.Diff(before, f.ids()); d != "" {
				t.Errorf("containers are others, or one is left: %s", d)
			}
			if _, sent := f.hosts["gpu1"].engine.images[other]; sent != c.sent {
				t.Errorf("the master's host has it: %v", sent)
			}
			if f.drained["gpu2"] || len(f.state("gpu1", "gpu2")) != 4 {
				t.Errorf("the worker was drained: %v, and %v run", f.drained["gpu2"],
					f.state("gpu1", "gpu2"))
			}
			at.says = ""
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			all := func() int {
				return f.hosts["gpu1"].engine.looks + f.hosts["gpu2"].engine.looks + f.laptop.looks
			}
			looks := all()
			if result, err := f.up(r); err != nil || result.Plan.Changes {
				t.Errorf("%v, %v", result.Plan.Steps, err)
			}
			r.BrokerPort = 6000 // the same image
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			if n := all(); n != looks || n > 3 {
				t.Errorf("it was looked at %d times, and then %d times", looks, n)
			}
		})
	}
}
