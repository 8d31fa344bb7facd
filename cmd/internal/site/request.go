package site

import (
	"errors"
	"fmt"
	"path/filepath"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/host"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
)

// Request turns the options into the request of infrainit. files and file are what Project
// returned.
func (s *Site) Request(files *projects.Manifest, file *definition.File) (infra.Request, error) {
	o := s.Config.Options
	selection, err := s.Config.Selection()
	switch {
	case errors.Is(err, host.ErrNothing):
		return infra.Request{}, cli.Wrong("infrainit --help shows examples", "%w", err)
	case err != nil:
		return infra.Request{}, err
	case o.Name == "":
		return infra.Request{},
			cli.Wrong("name the project's folder with -d, or the cluster with --name",
				"there is no project, and the cluster has no name")
	}
	r := infra.Request{
		Cluster: plan.Cluster{
			Name: o.Name, BrokerImage: o.BrokerImage, BrokerPort: o.BrokerPort,
			MonitorPort: o.MonitorPort, Address: o.MasterAddress, Exposed: o.ExposeMonitor,
			Lease: o.Lease, DrainTime: o.DrainTimeout, Program: cli.Version(), Schema: core.Schema,
		},
		Targets: map[string]remote.Target{host.LocalName: s.Target(host.Local)}, Folder: s.folder(),
		Files: files,
	}
	if selection.Master != nil {
		r.Master = selection.Master.Name
	}
	programs, err := s.Infra.Programs()
	if err != nil {
		return r, err
	}
	r.Sweepd = map[string]string{}
	for _, p := range programs {
		r.Sweepd[p.Arch] = p.Hash()
	}
	if file != nil {
		if r.Project, err = project(file, files); err != nil {
			return r, err
		}
	}
	works := map[string]bool{}
	for _, w := range selection.Workers {
		works[w.Name] = true
	}
	for _, h := range selection.Hosts {
		r.Targets[h.Name] = s.Target(h.Address)
		if !works[h.Name] && h.Name != r.Master && selection.Master != nil {
			continue // it is listed, and has neither master nor worker
		}
		wanted := plan.Host{Name: h.Name, Address: h.Address}
		if works[h.Name] {
			own := s.Config.Host(h.Address).HostOptions
			wanted.Work = &own
		}
		r.Hosts = append(r.Hosts, wanted)
	}
	return r, s.images(r)
}

// images finds workers without a configured image.
func (s *Site) images(r infra.Request) error {
	for _, h := range r.Hosts {
		if h.Work != nil && h.Work.Image == "" && r.Project.Image == "" && r.Project.Build == "" {
			return &cli.Error{Code: cli.Invalid,
				Err: fmt.Errorf("nothing names the image in which the worker of %s runs tasks",
					h.Name),
				Remedy: "write image: python:3.12-slim, or another, into tasks.yml, or give " +
					"--image"}
		}
	}
	return nil
}

// project returns what tasks.yml asks of containers. Without files it has neither the revision nor
// the recipe of a Dockerfile.
func project(f *definition.File, files *projects.Manifest) (p plan.Project, err error) {
	c := f.Container
	p = plan.Project{
		Image: f.Image, Build: filepath.ToSlash(f.Build), Volumes: f.Volumes,
		Memory: c.Memory, Shm: c.SharedMemory, Pids: int64(c.Processes),
		WritableRoot: c.WritableRoot,
	}
	if files == nil {
		return p, nil
	}
	p.Revision = files.Revision()
	if p.Build != "" {
		p.Recipe, err = files.Recipe(p.Build)
	}
	return p, err
}
