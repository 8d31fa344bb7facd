package docker_test

import (
	"encoding/json"
	"testing"

	"mlframework/infra/docker"
)

func TestContainersFindEachOtherInTheirNetworks(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	inner := docker.Bridge{Name: name(), Labels: labels(), Internal: true}
	outer := docker.Bridge{Name: name(), Labels: labels()}
	for _, n := range []docker.Bridge{inner, outer} {
		if _, err := e.CreateNetwork(ctx, n); err != nil {
			t.Fatal(err)
		}
		_, err := e.CreateNetwork(ctx, n)
		want(t, err, docker.Conflict, n.Name)
	}
	both := spec(t, "listen", ":700")
	both.Networks = []docker.Network{{Name: inner.Name, Aliases: []string{"server"}},
		{Name: outer.Name, Aliases: []string{"front"}}}
	run(t, both)
	await(t, both.Name, "listening")
	dial := func(network, address, wait string) int {
		s := spec(t, "dial", address, wait)
		s.Networks = []docker.Network{{Name: network}}
		code, out := output(t, s)
		t.Logf("from %s to %s: %d %s", network, address, code, out)
		return code
	}
	if dial(inner.Name, "server:700", "20s") != 0 || dial(outer.Name, "front:700", "20s") != 0 {
		t.Error("containers of one network do not reach each other by alias")
	}
	if dial(inner.Name, "front:700", "1s") != 1 {
		t.Error("an alias is known outside its network")
	}
	remove(t, both.Name)

	found, err := e.ListNetworks(ctx, labels())
	if err != nil {
		t.Fatal(err)
	}
	internal := map[string]bool{}
	for _, n := range found {
		internal[n.Name] = n.Internal
	}
	if !internal[inner.Name] || internal[outer.Name] || len(found) < 2 {
		t.Errorf("listed are %+v", found)
	}
}

// TestAnInternalNetworkLeadsNowhere tries the address of the engine's own side of another bridge,
// where a port is open.
func TestAnInternalNetworkLeadsNowhere(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	inner := docker.Bridge{Name: name(), Labels: labels(), Internal: true}
	if _, err := e.CreateNetwork(ctx, inner); err != nil {
		t.Fatal(err)
	}
	s := spec(t, "listen", ":700")
	run(t, s)
	await(t, s.Name, "listening")
	address := bridgeAddress(t, s.Name) + ":700"
	outside := spec(t, "dial", address, "20s")
	if code, out := output(t, outside); code != 0 {
		t.Fatalf("from the default bridge: %s", out)
	}
	inside := spec(t, "dial", address, "1s")
	inside.Networks = []docker.Network{{Name: inner.Name}}
	if code, out := output(t, inside); code != 1 {
		t.Errorf("an internal network leads to another: %d %s", code, out)
	}
}

// bridgeAddress is a container's address in the default bridge.
func bridgeAddress(t *testing.T, name string) string {
	t.Helper()
	raw, err := engine(t).InspectJSON(bounded(t), name)
	if err != nil {
		t.Fatal(err)
	}
	var seen struct{ NetworkSettings struct{ IPAddress string } }
	if err := json.Unmarshal(raw, &seen); err != nil || seen.NetworkSettings.IPAddress == "" {
		t.Fatalf("%s has no address: %v", name, err)
	}
	return seen.NetworkSettings.IPAddress
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	ctx, e := bounded(t), engine(t)
	v := docker.Volume{Name: name(), Labels: map[string]string{markLabel: mark, "kind": "kept"}}
	for range 2 {
		if err := e.CreateVolume(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
	all, err := e.ListVolumes(ctx, map[string]string{markLabel: mark, "kind": "kept"})
	if err != nil || len(all) != 1 || all[0].Name != v.Name {
		t.Errorf("listed are %+v, %v", all, err)
	}
	s := spec(t, "serve")
	s.Mounts = []docker.Mount{{At: "/data", Volume: v.Name}}
	run(t, s)
	want(t, e.RemoveVolume(ctx, v.Name), docker.Conflict, v.Name)
	remove(t, s.Name)
	if err := e.RemoveVolume(ctx, v.Name); err != nil {
		t.Fatal(err)
	}
	want(t, e.RemoveVolume(ctx, v.Name), docker.NotFound)
	want(t, e.RemoveNetwork(ctx, name()), docker.NotFound)
}
