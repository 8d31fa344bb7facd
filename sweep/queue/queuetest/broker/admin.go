package broker

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Ctl runs rabbitmqctl against it and gives what it printed. It takes a second or two: see Eval.
func (b *Broker) Ctl(t testing.TB, args ...string) string {
	t.Helper()
	return b.must(t, "ctl", args...)
}

// Eval evaluates an Erlang expression within it and gives what that printed.
func (b *Broker) Eval(t testing.TB, expression string) string {
	t.Helper()
	out := b.must(t, "eval", expression)
	if !strings.HasPrefix(out, "{ok") {
		t.Fatalf("%s: %s", expression, out)
	}
	return out
}

// MakeVhost makes a vhost that the broker's own user may use. Master and Worker make those of
// clusters there.
func (b *Broker) MakeVhost(t testing.TB, name string) {
	t.Helper()
	b.Eval(t, fmt.Sprintf(`rabbit_vhost:add(<<"%s">>, <<"test">>),
		rabbit_auth_backend_internal:set_permissions(<<"mlframework">>, <<"%s">>, <<".*">>, <<".*">>, <<".*">>, <<"test">>)`, name, name))
}

// DropVhost drops a vhost with everything in it.
func (b *Broker) DropVhost(t testing.TB, name string) {
	t.Helper()
	b.Eval(t, fmt.Sprintf(`rabbit_vhost:delete(<<"%s">>, <<"test">>)`, name))
}

// DeleteQueue deletes a queue with all that is in it, as a person might.
func (b *Broker) DeleteQueue(t testing.TB, vhost, name string) {
	t.Helper()
	b.Eval(t, fmt.Sprintf(`%s, {ok, _} = rabbit_amqqueue:delete(Q, false, false, <<"test">>)`,
		lookup(vhost, name)))
}

// Purge drops the messages that wait in a queue.
func (b *Broker) Purge(t testing.TB, vhost, name string) {
	t.Helper()
	b.Eval(t, fmt.Sprintf(`%s, {ok, _} = rabbit_amqqueue:purge(Q)`, lookup(vhost, name)))
}

func lookup(vhost, name string) string {
	return fmt.Sprintf(`{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"%s">>, queue, <<"%s">>))`,
		vhost, name)
}

// SetPolicy sets a policy for the queues of a vhost whose names match, before all others;
// definition is JSON.
func (b *Broker) SetPolicy(t testing.TB, vhost, pattern, definition string) {
	t.Helper()
	b.Ctl(t, "set_policy", "-p", vhost, "test", pattern, definition, "--apply-to", "queues",
		"--priority", "9")
}

// SetMemoryLimit sets the part of the machine's memory above which the broker takes no messages: 0
// is always.
func (b *Broker) SetMemoryLimit(t testing.TB, part float64) {
	t.Helper()
	b.Eval(t, fmt.Sprintf(`vm_memory_monitor:set_vm_memory_high_watermark(%.3f)`, part))
}

// SetPassword changes the password of the broker's user, and leaves the file with the credentials
// as it is.
func (b *Broker) SetPassword(t testing.TB, password string) {
	t.Helper()
	b.Eval(t,
		fmt.Sprintf(
			`rabbit_auth_backend_internal:change_password(<<"mlframework">>, <<"%s">>, <<"test">>)`,
			password))
}

// In gives an address (URL or TLS) with a vhost.
func In(address, vhost string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // it is the harness's own
	}
	u.Path, u.RawPath = "/"+vhost, "/"+url.PathEscape(vhost)
	return u.String()
}
