package docker_test

import (
	"errors"
	"fmt"
	"testing"

	"mlframework/infra/docker"
)

// TestWhatEnginesSay holds texts of engines from 19.03 to 29: what other tests cannot make the
// engine of this machine say.
func TestWhatEnginesSay(t *testing.T) {
	t.Parallel()
	const endpoint = "driver failed programming external connectivity on endpoint broker (0a1b2c): "
	for text, wanted := range map[string]docker.Kind{
		endpoint +
			"Bind for 0.0.0.0:5671 failed: port is already allocated": docker.PortTaken,
		endpoint +
			"Bind for :::5671 failed: port is already allocated": docker.PortTaken,
		endpoint + "Error starting userland proxy: listen tcp4 0.0.0.0:5671: bind: address " +
			"already in use": docker.PortTaken,
		endpoint + "Error starting userland proxy: listen tcp6 [::]:5671: bind: address already " +
			"in use": docker.PortTaken,
		endpoint + "Error starting userland proxy: listen udp4 127.0.0.1:53: bind: address " +
			"already in use": docker.PortTaken,
		"failed to set up container networking: " + endpoint + "failed to bind host port for " +
			"0.0.0.0:5671:172.17.0.2:5671/tcp: address already in use": docker.PortTaken,
		"failed to set up container networking: " + endpoint + "failed to bind host port " +
			"127.0.0.1:5555/tcp: address already in use": docker.PortTaken,
		endpoint + "Error starting userland proxy: listen tcp4 192.0.2.1:5671: bind: cannot " +
			"assign requested address": docker.Other,

		`could not select device driver "" with capabilities: [[gpu]]`:                         docker.NoToolkit,
		"CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=7":               docker.NoToolkit,
		"write /var/lib/docker/tmp/GetImageBlob1: no space left on device":                     docker.NoSpace,
		"client version 1.51 is too old. Minimum supported API version is 1.52":                docker.TooOld,
		`invalid mount config for type "bind": bind source path does not exist: /home/anna/ml`: docker.NoSource,
		"pull access denied for group/private, repository does not exist or may require 'docker " +
			"login'": docker.Unauthorized,
		"unauthorized: authentication required":                   docker.Unauthorized,
		"toomanyrequests: You have reached your pull rate limit.": docker.Unauthorized,
		"something new": docker.Other,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			kind, words := docker.Classify(errors.New("Error response from daemon: " + text))
			if kind != wanted || words == "" {
				t.Errorf("taken for %q: %s", kind, words)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("bring up gpu1: %w", &docker.Fault{Kind: docker.NoSpace,
		Op: "pull image x", Detail: "full"})
	for _, c := range []struct {
		err  error
		kind docker.Kind
	}{{nil, ""}, {errors.New("x"), docker.Other}, {wrapped, docker.NoSpace},
		{errors.Join(errors.New("x"), wrapped), docker.NoSpace}} {
		if got := docker.KindOf(c.err); got != c.kind {
			t.Errorf("%v is of the kind %q", c.err, got)
		}
	}
	if got := wrapped.Error(); got != "bring up gpu1: pull image x: full" {
		t.Error(got)
	}
}
