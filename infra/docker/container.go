package docker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"
)

// Container is a container as it was found.
type Container struct {
	ID       string
	Name     string
	Hash     string // of the Spec; "" when it was not made by this package
	Labels   map[string]string
	Image    string    // as it was asked for
	ImageID  string    // of the image that it was made of, on the host
	State    string    // "created", "running", "paused", "restarting", "removing", "exited", "dead"
	Started  time.Time // zero before the first time
	Exit     int       // exit code of the last end
	Restarts int       // by its restart policy
	Ports    []Port    // as published; only while it runs

	// What it was made of, as a Spec has it.
	Command   []string // with what was Late
	Env       []string // with that of its image
	Mounts    []Mount  // but for tmpfs
	Devices   []Device // those that were asked for by name
	Memory    int64    // bytes; 0 is no limit
	Shm, Pids int64
}

// Running tells whether its program runs; one that is paused counts.
func (c Container) Running() bool { return c.State == "running" || c.State == "paused" }

// Find gives one container by name or id. NotFound when there is none.
func (e *Engine) Find(ctx context.Context, name string) (Container, error) {
	raw, err := e.api.ContainerInspect(ctx, name)
	if err != nil {
		return Container{}, e.fail("look at container "+name, err)
	}
	if raw.ContainerJSONBase == nil || raw.Config == nil {
		return Container{}, e.fail("look at container "+name,
			errors.New("the engine's answer says nothing of it"))
	}
	return found(raw), nil
}

// List gives the containers that have all the labels, whatever their state, those that were only
// created too, sorted by name. An empty value stands for any. One that goes while they are looked
// at is left out.
func (e *Engine) List(ctx context.Context, labels map[string]string) ([]Container, error) {
	brief, err := e.api.ContainerList(ctx, container.ListOptions{All: true,
		Filters: labelled(labels)})
	if err != nil {
		return nil, e.fail("list containers", err)
	}
	var all []Container
	for _, b := range brief {
		c, err := e.Find(ctx, b.ID)
		switch {
		case KindOf(err) == NotFound:
			continue
		case err != nil:
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// labelled is the filter for things with these labels.
func labelled(labels map[string]string) filters.Args {
	f := filters.NewArgs()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if value := labels[name]; value != "" {
			name += "=" + value
		}
		f.Add("label", name)
	}
	return f
}

func found(raw container.InspectResponse) Container {
	c := Container{
		ID: raw.ID, Name: strings.TrimPrefix(raw.Name, "/"), Restarts: raw.RestartCount,
		Labels: raw.Config.Labels, Hash: raw.Config.Labels[HashLabel], Image: raw.Config.Image,
		ImageID: raw.Image,
	}
	c.Command, c.Env = raw.Config.Cmd, raw.Config.Env
	if h := raw.HostConfig; h != nil {
		c.Memory, c.Shm = h.Memory, h.ShmSize
		if h.PidsLimit != nil {
			c.Pids = max(0, *h.PidsLimit)
		}
		for _, m := range h.Mounts {
			one := Mount{At: m.Target, ReadOnly: m.ReadOnly}
			if m.Type == mount.TypeBind {
				one.Bind = m.Source
			} else {
				one.Volume = m.Source
			}
			c.Mounts = append(c.Mounts, one)
		}
	}
	c.Devices = devices(raw.HostConfig)
	if s := raw.State; s != nil {
		c.State, c.Exit, c.Started = s.Status, s.ExitCode, moment(s.StartedAt)
	}
	if n := raw.NetworkSettings; n != nil {
		c.Ports = published(n.Ports)
	}
	return c
}

// devices are the device requests of a container that name what they want.
func devices(h *container.HostConfig) (all []Device) {
	if h == nil {
		return nil
	}
	for _, r := range h.DeviceRequests {
		if len(r.DeviceIDs) == 0 {
			continue
		}
		d := Device{Driver: r.Driver, IDs: r.DeviceIDs}
		if len(r.Capabilities) > 0 {
			d.Capabilities = r.Capabilities[0]
		}
		all = append(all, d)
	}
	return all
}

// moment reads a time of the engine, which writes year 1 for never.
func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// published lists the ports in the order of container port and address.
func published(ports nat.PortMap) (all []Port) {
	for inside, outside := range ports {
		for _, o := range outside {
			port, _ := strconv.Atoi(o.HostPort) // the engine's own digits
			all = append(all, Port{Host: o.HostIP, Port: port, Container: inside.Int(),
				UDP: inside.Proto() == "udp"})
		}
	}
	slices.SortFunc(all, func(a, b Port) int {
		if a.Container != b.Container {
			return a.Container - b.Container
		}
		return strings.Compare(a.Host, b.Host)
	})
	return all
}
