package infra

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// Limits of the container in which an image is looked at.
const (
	lookMemory = 512 << 20
	lookPids   = 256
)

// unfit says why an image cannot be the broker's.
type unfit struct {
	ref    string
	faults []string
}

func (u *unfit) Error() string {
	return fmt.Sprintf("%s cannot be the broker's: %s\n    name one like rabbitmq:4.2 with "+
		"--broker-image (broker-image: in cluster.yml); docs/config.md says what it needs",
		u.ref, strings.Join(u.faults, "; "))
}

// checkBroker finds out, where an image is, whether it can be the broker's on a host: before it is
// sent, and before anything is stopped for it.
func (a *applier) checkBroker(ctx context.Context, at *docker.Engine, m *connectedHost,
	ref string) error {
	i, err := at.FindImage(ctx, ref)
	if err != nil {
		return err
	}
	a.mu.Lock()
	known := a.checked == i.ID
	a.mu.Unlock()
	if known {
		return nil
	}
	uid, gid := m.found.RunAs()
	spec := docker.Spec{Name: a.request.Container(plan.Broker) + "-check", Image: ref,
		User: fmt.Sprintf("%d:%d", uid, gid), Networks: []docker.Network{{Name: "none"}},
		Labels: map[string]string{plan.ClusterLabel: a.request.Name,
			plan.OwnerLabel: a.request.Owner},
		NoNewPrivileges: true, DropCaps: []string{"ALL"}, Memory: lookMemory, Pids: lookPids,
		Log: docker.Log{Driver: "json-file", MaxSize: mostOutput, Files: 1}}
	spec.Entrypoint, spec.Env = broker.Look()
	printed, err := runOnce(ctx, at, spec)
	if err != nil {
		return fmt.Errorf("look whether %s can be the broker's: %w", ref, err)
	}
	if faults := broker.ImageFaults(printed, strconv.Itoa(uid)); len(faults) > 0 {
		return &unfit{ref, faults}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checked = i.ID
	return nil
}

// runOnce runs a container to its end, and returns what it printed.
func runOnce(ctx context.Context, at *docker.Engine, spec docker.Spec) (printed string, err error) {
	if err := gone(at.Remove(ctx, spec.Name)); err != nil { // left by a call that was killed
		return "", err
	}
	defer func() {
		ctx, cancel := withoutCancel(ctx)
		defer cancel()
		err = errors.Join(err, gone(at.Remove(ctx, spec.Name)))
	}()
	starting, cancel := withoutCancel(ctx) // Docker would finish what is interrupted
	defer cancel()
	if _, err := at.Run(starting, spec); err != nil {
		return "", err
	}
	var out output
	err = at.Logs(ctx, spec.Name, docker.LogOptions{Follow: true}, &out)
	return out.String(), err
}
