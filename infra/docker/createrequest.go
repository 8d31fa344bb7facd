package docker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"
)

// request is a Spec in the words of the API.
type request struct {
	config *container.Config
	host   *container.HostConfig
	first  *network.NetworkingConfig
}

// check refuses what the engine would take for something else, or not at all.
func (s Spec) check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("the container has no name")
	case s.Image == "":
		return fmt.Errorf("the container has no image")
	case s.Grace < 0 || s.Grace%time.Second != 0:
		return fmt.Errorf("the grace of %s is no number of whole seconds", s.Grace)
	case s.Labels[HashLabel] != "":
		return fmt.Errorf("the label %s is not the caller's to set", HashLabel)
	}
	for _, m := range s.Mounts {
		kinds := 0
		for _, set := range []bool{m.Bind != "", m.Volume != "", m.Tmpfs != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			return fmt.Errorf("the mount at %q is one of bind, volume and tmpfs, and says %d of "+
				"them", m.At, kinds)
		}
	}
	return nil
}

// request translates the Spec.
func (s Spec) request() request {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[HashLabel] = s.Hash()
	r := request{
		config: &container.Config{
			Hostname: s.Hostname, User: s.User, Env: s.Env, Entrypoint: s.Entrypoint,
			Cmd:   slices.Concat(s.Command, s.Late),
			Image: s.Image, Labels: labels,
		},
		host: &container.HostConfig{
			RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyMode(s.Restart)},
			CapDrop:        s.DropCaps,
			ReadonlyRootfs: s.ReadOnly,
			ShmSize:        s.Shm,
			LogConfig:      s.Log.config(),
			Resources:      container.Resources{Memory: s.Memory},
		},
	}
	if s.Grace > 0 {
		seconds := int(s.Grace / time.Second)
		r.config.StopTimeout = &seconds
	}
	if s.NoNewPrivileges {
		r.host.SecurityOpt = []string{"no-new-privileges"}
	}
	if s.Pids > 0 {
		r.host.PidsLimit = &s.Pids
	}
	for _, d := range s.Devices {
		ask := container.DeviceRequest{Driver: d.Driver, DeviceIDs: d.IDs}
		if len(d.Capabilities) > 0 {
			ask.Capabilities = [][]string{d.Capabilities}
		}
		r.host.DeviceRequests = append(r.host.DeviceRequests, ask)
	}
	r.mount(s.Mounts)
	r.publish(s.Ports)
	r.join(s.Networks)
	return r
}

// mount sets the mounts. A tmpfs goes by the older field, since a mount's own options came only
// with API 1.46.
func (r *request) mount(all []Mount) {
	for _, m := range all {
		switch {
		case m.Tmpfs != nil:
			if r.host.Tmpfs == nil {
				r.host.Tmpfs = map[string]string{}
			}
			r.host.Tmpfs[m.At] = m.Tmpfs.options(m.ReadOnly)
		case m.Bind != "":
			r.host.Mounts = append(r.host.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.Bind,
				Target: m.At, ReadOnly: m.ReadOnly})
		default:
			r.host.Mounts = append(r.host.Mounts, mount.Mount{Type: mount.TypeVolume,
				Source: m.Volume, Target: m.At, ReadOnly: m.ReadOnly})
		}
	}
}

// options are those of mount(8). What is not said the engine takes to be rw, nosuid, nodev and
// noexec.
func (t Tmpfs) options(readOnly bool) string {
	options := []string{map[bool]string{false: "rw", true: "ro"}[readOnly]}
	if t.Exec {
		options = append(options, "exec")
	}
	if t.Size > 0 {
		options = append(options, "size="+strconv.FormatInt(t.Size, 10))
	}
	if t.Mode != "" {
		options = append(options, "mode="+t.Mode)
	}
	if uid, gid, ok := strings.Cut(t.User, ":"); ok {
		options = append(options, "uid="+uid, "gid="+gid)
	}
	return strings.Join(options, ",")
}

// publish sets the ports.
func (r *request) publish(all []Port) {
	if len(all) == 0 {
		return
	}
	r.config.ExposedPorts, r.host.PortBindings = nat.PortSet{}, nat.PortMap{}
	for _, p := range all {
		inside := nat.Port(strconv.Itoa(p.Container) + "/" + map[bool]string{false: "tcp",
			true: "udp"}[p.UDP])
		outside := nat.PortBinding{HostIP: p.Host}
		if p.Port > 0 {
			outside.HostPort = strconv.Itoa(p.Port)
		}
		r.config.ExposedPorts[inside] = struct{}{}
		r.host.PortBindings[inside] = append(r.host.PortBindings[inside], outside)
	}
}

// join sets the first network. Before API 1.44 a container is made in one only; Create joins the
// others.
func (r *request) join(all []Network) {
	if len(all) == 0 {
		return
	}
	r.host.NetworkMode = container.NetworkMode(all[0].Name)
	r.first =
		&network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{all[0].Name: all[0].endpoint()}}
}

func (n Network) endpoint() *network.EndpointSettings {
	return &network.EndpointSettings{Aliases: slices.Clone(n.Aliases)}
}

func (l Log) config() container.LogConfig {
	c := container.LogConfig{Type: l.Driver}
	if l.MaxSize > 0 || l.Files > 0 {
		c.Config = map[string]string{}
	}
	if l.MaxSize > 0 {
		c.Config["max-size"] = strconv.FormatInt(l.MaxSize, 10)
	}
	if l.Files > 0 {
		c.Config["max-file"] = strconv.Itoa(l.Files)
	}
	return c
}
