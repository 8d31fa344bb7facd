package site

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/layout"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

// Overview is the state of a cluster, as its hosts, their Docker, the broker and the master report
// it. Its JSON is a contract: docs/check-status.md.
type Overview struct {
	Version int                `json:"version"` // of this form: 1
	Time    time.Time          `json:"time"`    // when they were asked, UTC
	Cluster string             `json:"cluster"`
	Master  string             `json:"master"` // name of its host
	Well    bool               `json:"well"`   // there are no faults
	Hosts   []infra.HostStatus `json:"hosts"`
	Workers []core.Worker      `json:"workers"`
	Broker  *api.Broker        `json:"broker"` // null: the master did not answer
	Sweeps  []core.Summary     `json:"sweeps"` // that may still run something, the oldest first
	Faults  []Fault            `json:"faults"`
	// Certificates are those of the services on the master's host, as far as they could be seen.
	Certificates []infra.Certificate `json:"certificates,omitempty"`

	// Images are those that containers of broker and workers are to be made of.
	Images []layout.RecordImage `json:"images,omitempty"`

	ready    []api.Reason // why the master is not
	warnings []api.Reason // of the master's health
	silent   error        // why the master did not answer
	program  string       // version of the program that brought the cluster up; "": kept by none
	here     string       // that of this one
	drifts   []Fault      // of workers that are different from what tasks.yml asks for
}

// OverviewVersion is the value of Overview.Version.
const OverviewVersion = 1

// Overview asks hosts and master at the same time, and waits a few seconds at most. It returns an
// error only when ctx ends.
func (s *Site) Overview(ctx context.Context, c *infra.Cluster) (Overview, error) {
	o := Overview{Version: OverviewVersion, Time: s.Infra.Now().UTC(), Cluster: c.Record.Cluster,
		Master: c.Record.Master, Images: c.Record.Images,
		Workers: []core.Worker{}, Sweeps: []core.Summary{},
		program: c.Record.Program, here: cli.Version()}
	if c.Assumed() { // nobody has told its program
		o.here = ""
	}
	client := s.Client(c.Dial())
	client.GiveUp = silentTime
	defer client.Close()
	var asking sync.WaitGroup
	asking.Go(func() {
		if o.silent = o.askMaster(ctx, client); o.silent == nil {
			o.drifts = s.drifts(ctx, o.Workers)
		}
	})
	hosts, err := c.Status(ctx)
	asking.Wait()
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	s.noteLostGPUs(hosts)
	o.Hosts, o.Certificates = hosts, c.Certificates(ctx)
	o.Faults = o.faults()
	for i := range o.Faults {
		o.Faults[i].Remedy = s.Hints.Complete(o.Faults[i].Remedy)
	}
	o.Well = len(o.Faults) == 0
	return o, err
}

// masterTime limits the questions to a master together; silentTime, how long it may be silent.
const (
	masterTime = 6 * time.Second
	silentTime = 5 * time.Second
)

func (o *Overview) askMaster(ctx context.Context, client *api.Client) error {
	ctx, cancel := context.WithTimeout(ctx, masterTime)
	defer cancel()
	workers, err := client.Workers(ctx)
	if err != nil {
		return err
	}
	b, err := client.BrokerQueues(ctx)
	if err != nil {
		return err
	}
	ready, err := client.Ready(ctx)
	if err != nil {
		return err
	}
	health, err := client.Health(ctx)
	if err != nil {
		return err
	}
	sweeps, err := openSweeps(ctx, client)
	if err != nil {
		return err
	}
	o.Workers, o.Broker, o.ready, o.warnings, o.Sweeps = append(o.Workers, workers...), &b,
		ready.Reasons, health.Warnings, append(o.Sweeps, sweeps...)
	return nil
}

func (o *Overview) worker(name string) (core.Worker, bool) {
	i := slices.IndexFunc(o.Workers, func(w core.Worker) bool { return w.Name == name })
	if i < 0 {
		return core.Worker{}, false
	}
	return o.Workers[i], true
}

// WriteJSON writes one line of JSON for each host.
func (o *Overview) WriteJSON(w io.Writer) error {
	var errs []error
	for _, h := range o.Hosts {
		errs = append(errs, table.WriteJSONLine(w, h))
	}
	return errors.Join(errs...)
}
