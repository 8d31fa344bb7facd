package site

import (
	"context"
	"testing"

	"mlframework/config"
	"mlframework/infra"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
)

// Judge fills in what is wrong, from what everybody said.
func (o *Overview) Judge(ready, warnings []api.Reason, silent error) []Fault {
	o.ready, o.warnings, o.silent = ready, warnings, silent
	o.Faults = o.faults()
	o.Well = len(o.Faults) == 0
	return o.Faults
}

// NewControl returns what commands do with a master.
func NewControl() infra.Control { return control{"ann"} }

// OfVersions sets the versions of the cluster's programs and of this one.
func (o *Overview) OfVersions(cluster, here string) { o.program, o.here = cluster, here }

// DriftFaults is what check-status finds of workers beside a project.
func DriftFaults(ctx context.Context, dir string, workers []core.Worker) []Fault {
	s := &Site{Config: new(config.Config)}
	s.Config.Options.Project = dir
	return s.drifts(ctx, workers)
}

// Recipe is what infrainit says of a project's own Dockerfile.
func Recipe(t *testing.T, dir string) string {
	t.Helper()
	files, err := projects.Scan(t.Context(), dir, projects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := project(&definition.File{Build: "."}, files)
	if err != nil {
		t.Fatal(err)
	}
	return p.Recipe
}

// NoteLostGPUs notes how many GPUs the workers of hosts lack that cluster.yml gives them.
func (s *Site) NoteLostGPUs(hosts []infra.HostStatus) { s.noteLostGPUs(hosts) }
