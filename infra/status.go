package infra

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
)

// HostStatus is how one host of a cluster is. Its JSON is part of what check-status prints:
// docs/check-status.md.
type HostStatus struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Reached bool   `json:"reached"`
	// why it, or its Docker, could not be asked; what is below is empty then
	Problem string  `json:"problem,omitempty"`
	Remedy  string  `json:"remedy,omitempty"`
	Docker  string  `json:"docker,omitempty"` // version
	Root    string  `json:"root,omitempty"`   // the cluster's folder
	Free    int64   `json:"free_bytes"`       // on its disk
	Cores   int     `json:"cores"`
	Load    float64 `json:"load"` // of the last minute, as uptime tells it
	// by which its clock is ahead of this machine's, as far as that is certain
	ClockSkew time.Duration `json:"clock_skew_ns,omitempty"`
	// workers of other clusters that run there
	Others []OtherWorker   `json:"others,omitempty"`
	NVIDIA nvdocker.Report `json:"nvidia"` // its GPUs
	// how many GPUs its worker lacks that do not respond, by the configuration: see plan.LostGPUs
	LostGPUs int  `json:"-"`
	Worker   bool `json:"worker"` // one is to run there
	// roles whose containers are to run there
	Wanted     []string          `json:"wanted"`
	Containers []ContainerStatus `json:"containers"`
	// it was away when it was to leave the cluster
	Leaves bool `json:"leaves,omitempty"`
	// it has left the cluster, and has outputs of its tasks
	Outputs bool `json:"outputs,omitempty"`
}

// OtherWorker is a worker of another cluster on the same host.
type OtherWorker struct {
	Cluster string `json:"cluster"`
	Owner   string `json:"owner"`
	Slots   int    `json:"slots"` // that it was started with; 0: not known
}

// ContainerStatus is how one container is.
type ContainerStatus struct {
	Role  string `json:"role"`
	Name  string `json:"name"`
	State string `json:"state"`
	Image string `json:"image"`
	// Digest is that of the image: its registry's, else that of its content.
	Digest string `json:"digest,omitempty"`
	// Other says that it is not the image that the cluster's record has.
	Other    bool      `json:"other_image,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Restarts int       `json:"restarts"`
	Exit     int       `json:"exit_code"`
	GPUs     int       `json:"gpus,omitempty"` // of a worker: how many it was given
	Running  bool      `json:"-"`
}

// Status asks every host of the cluster and its Docker how they are, each for a few seconds at
// most. What is wrong is in it: the error is ctx's alone.
func (c *Cluster) Status(ctx context.Context) ([]HostStatus, error) {
	away, err := c.reach(ctx)
	if err != nil {
		return nil, err
	}
	errs := c.each(c.reached(), func(m *connectedHost) error {
		return m.ask(ctx, func(ctx context.Context) error {
			err := m.probe(ctx, c.location.Folder, nil, c.o.Now)
			if err == nil {
				err = m.list(ctx, c.location.Name, nil)
			}
			if err == nil {
				m.gpus(ctx)
			}
			return err
		})
	})
	wrong := map[string]plan.Problem{}
	for _, p := range append(away, problems(errs)...) {
		wrong[p.Host] = p
	}
	var all []HostStatus
	for _, h := range c.Record.Hosts {
		s := HostStatus{Name: h.Name, Address: h.Address, Reached: true, Worker: h.Worker,
			Wanted: c.Wanted(h.Name), Containers: []ContainerStatus{},
			Leaves: h.Leaves, Outputs: h.Outputs}
		if p, is := wrong[h.Name]; is {
			s.Reached, s.Problem, s.Remedy = !p.Unreached, p.What, p.Remedy
		} else {
			s.fill(c.connected[h.Name], c.location.Name, c.Record)
		}
		if !s.Reached {
			c.drop(h.Name)
		}
		all = append(all, s)
	}
	return all, ctx.Err()
}

func (s *HostStatus) fill(m *connectedHost, cluster string, r layout.Record) {
	s.Docker, s.Free, s.NVIDIA = m.found.Engine.Version, m.found.Free, m.found.GPUs
	s.Cores, s.Load = m.found.Cores, m.found.Load
	s.Root, s.ClockSkew = m.found.Root, m.found.ClockSkew
	for _, o := range m.found.Containers {
		if o.Labels[plan.ClusterLabel] != cluster && o.Labels[plan.RoleLabel] == plan.Worker &&
			o.Running() {
			s.Others = append(s.Others, OtherWorker{o.Labels[plan.ClusterLabel],
				o.Labels[plan.OwnerLabel], plan.SlotsOf(o)})
		}
		if o.Labels[plan.ClusterLabel] == cluster {
			one := ContainerStatus{Role: o.Labels[plan.RoleLabel], Name: o.Name, State: o.State,
				Image: o.Image, Started: o.Started, Restarts: o.Restarts, Exit: o.Exit,
				GPUs: plan.GPUsOf(o), Running: o.Running()}
			if i, known := m.found.Images[o.ImageID]; known {
				pin := r.Image(o.Image)
				one.Digest = cmp.Or(i.Digest(o.Image), i.ID)
				if one.Other = !plan.Pins(pin, i, m.found.Arch); !one.Other {
					one.Digest = cmp.Or(pin.Name(m.found.Arch), one.Digest)
				}
			}
			s.Containers = append(s.Containers, one)
		}
	}
}

// Wanted are the roles whose containers are to run on a host.
func (c *Cluster) Wanted(host string) []string {
	roles := []string{}
	if host == c.Record.Master {
		roles = []string{plan.Broker, plan.Master, plan.Monitor}
	}
	for _, h := range c.Record.Hosts {
		if h.Name == host && h.Worker {
			roles = append(roles, plan.Worker)
		}
	}
	return roles
}

// Logs copies what a container of the cluster printed: that of a role, or of a host's worker.
// LogOptions say what of it.
func (c *Cluster) Logs(ctx context.Context, host, role string, o docker.LogOptions,
	out io.Writer) error {
	if !slices.ContainsFunc(c.Record.Hosts, func(h layout.RecordHost) bool {
		return h.Name == host
	}) {
		return fmt.Errorf("there is no host %s in the cluster", host)
	}
	away, err := c.reach(ctx, host)
	if err != nil {
		return err
	}
	if len(away) > 0 {
		return away
	}
	engine, err := c.connected[host].docker(ctx)
	if err != nil {
		return err
	}
	return engine.Logs(ctx, c.wanted().Container(role), o, out)
}

// LoginLink has the monitor make a link that logs in once, for a browser that reaches it by that
// URL: it runs `sweepd monitor link` in the monitor's container, with its state folder. A viewer may
// only read; what others do with the link is recorded under the name of the cluster's owner.
func (c *Cluster) LoginLink(ctx context.Context, url string, viewer bool) (string, error) {
	m, there := c.connected[c.location.Master]
	if !there {
		return "", c.away()
	}
	engine, err := m.docker(ctx)
	if err != nil {
		return "", err
	}
	argv := []string{path.Join(layout.ProgramAt, layout.Program), "monitor", "link",
		"--state", layout.StateAt, "--url", url, "--user", c.Record.Owner}
	if viewer {
		argv = append(argv, "--viewer")
	}
	var out, said output
	code, err := engine.Exec(ctx, c.wanted().Container(plan.Monitor), docker.Command{Argv: argv}, nil,
		&out, &said)
	if err == nil && code != 0 {
		err = fmt.Errorf("sweepd monitor link: %s",
			bytes.TrimSpace(slices.Concat(said.Bytes(), out.Bytes())))
	}
	return string(bytes.TrimSpace(out.Bytes())), err
}
