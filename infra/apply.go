package infra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
)

// applier carries out the steps of one plan and remembers how to undo them.
type applier struct {
	*session
	request Request
	old     layout.Record // what the master's host had
	mu      sync.Mutex
	undos   []undo // in the order in which they were made
	// checked is the id of an image that can be the broker's; "": none was looked at.
	checked string
	images  map[string]layout.RecordImage // for what references stand, as far as it is known
	// shipping has room for the images that are sent at once.
	shipping chan struct{}
	// before are the secrets before a rotation that the broker does not know of; nil: there is
	// none.
	before *broker.Secrets
	// cannotGoBack: some of what a rotation wrote could not be taken back, so it goes forward.
	cannotGoBack bool
}

// changeTime bounds one change that is not cut off.
const changeTime = time.Minute

// withoutCancel is for a change that cannot be cancelled: Docker or the host may finish it after we
// gave up, and a rollback would race with it.
func withoutCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), changeTime)
}

// do carries out one step.
func (a *applier) do(ctx context.Context, s plan.Step) error {
	m := a.connected[s.Host]
	switch do := s.Do.(type) {
	case plan.Folders:
		return a.folders(ctx, m, do)
	case plan.Sweepd:
		return m.withAgent(ctx, func(c *agent.Client) error {
			return c.CopyProgram(ctx, agent.ProgramCopy{Root: m.found.Root, To: do.To})
		})
	case plan.Files:
		return a.files(ctx, m)
	case plan.Secrets:
		return a.writeSecrets(ctx, m, do)
	case plan.Rotate:
		return a.rotate(ctx, m, do)
	case plan.Finish:
		return a.finish(ctx, m)
	case plan.Users:
		return a.users(ctx, m, do)
	case plan.CheckBroker:
		return a.checkBroker(ctx, m.engine, m, do.Ref)
	case plan.Image, plan.Build, plan.Ship, plan.Base:
		return a.image(ctx, m, s.Do)
	case plan.Network:
		return a.network(ctx, m, do)
	case plan.Volume:
		return a.volume(ctx, m, do)
	case plan.Run, plan.Start, plan.Restart, plan.Remove, plan.Clear:
		return a.container(ctx, m, s.Do)
	case plan.Keep:
		if a.old.Version != 0 {
			a.onFailure(m, "note what the cluster was made of",
				func(ctx context.Context) error { return m.keep(ctx, a.old) })
		}
		return m.keep(ctx, a.withImages(do.Record))
	}
	return a.wait(ctx, m, s.Do)
}

func (a *applier) folders(ctx context.Context, m *connectedHost, do plan.Folders) error {
	if m.found.Marker == nil {
		a.onFailure(m, "remove the folder "+do.Root, func(ctx context.Context) error {
			return m.withAgent(ctx, func(c *agent.Client) error {
				return c.RemoveRoot(ctx,
					m.agentFolders(do))
			})
		})
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	return m.withAgent(ctx, func(c *agent.Client) error {
		return c.MakeFolders(ctx,
			m.agentFolders(do))
	})
}

func (a *applier) writeSecrets(ctx context.Context, m *connectedHost, do plan.Secrets) error {
	if do.For == plan.Broker {
		return a.brokerFiles(ctx, m, do)
	}
	files, err := a.secretFiles(ctx, do)
	if err != nil {
		return err
	}
	if do.For != plan.Monitor && do.For != plan.MonitorToken {
		a.onRotationFailure(m, do, func(s broker.Secrets) []broker.File {
			files, _ := s.Client(do.For) // a user who was not there before has none, and needs none
			return files
		})
	}
	return m.put(ctx, do.Dir, files, do.UID, do.GID)
}

// secretFiles returns the monitor's certificate or token, or the credentials of a user of the
// broker.
func (a *applier) secretFiles(ctx context.Context, do plan.Secrets) ([]broker.File, error) {
	switch do.For {
	case plan.Monitor:
		return broker.Certificate(a.o.Random, a.o.Now(), do.Names)
	case plan.MonitorToken:
		return broker.Token(a.o.Random)
	}
	secrets, err := a.brokerSecrets(ctx, a.connected[a.request.Master], false)
	if err != nil {
		return nil, err
	}
	return secrets.Client(do.For)
}

func (a *applier) network(ctx context.Context, m *connectedHost, do plan.Network) error {
	a.onFailure(m, "remove the network", func(ctx context.Context) error {
		return gone(m.engine.RemoveNetwork(ctx, do.Name))
	})
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	_, err := m.engine.CreateNetwork(ctx, docker.Bridge{Name: do.Name, Labels: do.Labels})
	if docker.KindOf(err) == docker.Conflict { // a killed call of infrainit may have just created it
		all, unlisted := m.engine.ListNetworks(ctx, do.Labels)
		if unlisted == nil && slices.ContainsFunc(all, func(b docker.Bridge) bool {
			return b.Name == do.Name
		}) {
			return nil
		}
	}
	return err
}

func (a *applier) volume(ctx context.Context, m *connectedHost, do plan.Volume) error {
	a.onFailure(m, "remove the volume "+do.Name, func(ctx context.Context) error {
		return gone(m.engine.RemoveVolume(ctx, do.Name))
	})
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	return m.engine.CreateVolume(ctx, docker.Volume{Name: do.Name, Labels: do.Labels})
}

// gone is no error when what is to be removed is not there.
func gone(err error) error {
	if docker.KindOf(err) == docker.NotFound {
		return nil
	}
	return err
}

func (a *applier) container(ctx context.Context, m *connectedHost, what plan.Action) error {
	switch do := what.(type) {
	case plan.Start:
		if do.Name == a.request.Container(plan.Broker) {
			a.commitRotation() // it reads its files
		}
		return explainGPUs(m.engine.Start(ctx, do.Name))
	case plan.Restart:
		if err := m.stop(ctx, do.Name, do.Grace); err != nil {
			return err
		}
		ctx, cancel := withoutCancel(ctx)
		defer cancel()
		return m.engine.Start(ctx, do.Name)
	case plan.Remove:
		return a.remove(ctx, m, do)
	case plan.Run:
		return a.run(ctx, m, do)
	case plan.Clear:
		return m.clear(ctx, do.Labels)
	}
	return fmt.Errorf("no step is a %T", what)
}

// run starts a container. One that took another's place stays whatever happens later: the cluster
// ran before, and goes on.
func (a *applier) run(ctx context.Context, m *connectedHost, do plan.Run) error {
	if do.Spec.Labels[plan.RoleLabel] == plan.Broker {
		a.commitRotation() // it reads its files
	}
	if do.Replace != "" {
		return a.replace(ctx, m, do)
	}
	a.onFailure(m, "remove the container "+do.Spec.Name, func(ctx context.Context) error {
		return gone(m.engine.Remove(ctx, do.Spec.Name))
	})
	return a.start(ctx, m, do)
}

// replace starts a container in the place of another, which is removed when the new one has
// started. When it does not start, or ctx ends before, the old one goes on.
func (a *applier) replace(ctx context.Context, m *connectedHost, do plan.Run) error {
	old, err := m.engine.Find(ctx, do.Replace)
	if docker.KindOf(err) == docker.NotFound {
		return a.start(ctx, m, do)
	}
	if err != nil {
		return err
	}
	err = cmp.Or(m.stop(ctx, old.ID, do.Grace), context.Cause(ctx))
	if err == nil {
		err = m.setAside(ctx, old, do.Spec.Name+plan.ReplacedSuffix)
	}
	if err == nil {
		err = a.start(ctx, m, do)
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	if err == nil {
		return gone(m.engine.Remove(ctx, old.ID))
	}
	a.restore(ctx, m, old, do.Spec.Name)
	return err
}

// remove stops and removes a container. When ctx ends before it is removed, it goes on.
func (a *applier) remove(ctx context.Context, m *connectedHost, do plan.Remove) error {
	old, err := m.engine.Find(ctx, do.ID)
	if err != nil {
		return gone(err)
	}
	err = cmp.Or(gone(m.stop(ctx, old.ID, do.Grace)), context.Cause(ctx))
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	if err == nil {
		return gone(m.engine.Remove(ctx, old.ID))
	}
	a.restore(ctx, m, old, old.Name)
	return err
}

// stop stops a container, whether ctx ends meanwhile or not: Docker finishes a stop whose client
// has gone, and then would stop what was started again. It returns when the container has ended.
func (m *connectedHost) stop(ctx context.Context, id string, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace+changeTime)
	defer cancel()
	return m.engine.Stop(ctx, id, grace)
}

// setAside gives a stopped container the name that it has while another takes its place.
func (m *connectedHost) setAside(ctx context.Context, old docker.Container, aside string) error {
	if old.Name == aside {
		return nil
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	if err := gone(m.engine.Remove(ctx, aside)); err != nil { // left by a call that was killed
		return err
	}
	return m.engine.Rename(ctx, old.ID, aside)
}

// restore has a container that was to be replaced or removed go on under its name, and tells
// whether it does: of a call that is interrupted no step's error is told.
func (a *applier) restore(
	ctx context.Context, m *connectedHost, old docker.Container, name string,
) {
	now, err := m.engine.Find(ctx, old.ID)
	if err == nil && now.Name != name {
		err = m.engine.Rename(ctx, old.ID, name)
	}
	if err == nil && old.Running() {
		err = m.engine.Start(ctx, old.ID)
	}
	if err != nil {
		a.o.Report.Warn(m.name, fmt.Sprintf("the container %s does not go on as it was: %v; "+
			"infrainit -f, when that is repaired", name, err))
		return
	}
	a.o.Report.Warn(m.name, "the container "+name+" goes on as it was")
}

// start makes a container and starts it.
func (a *applier) start(ctx context.Context, m *connectedHost, do plan.Run) error {
	if role := do.Spec.Labels[plan.RoleLabel]; role == plan.Broker || role == plan.Worker {
		name, err := a.confirmImage(ctx, m, do.Spec.Image)
		if err != nil {
			return err
		}
		if do.Image != "" {
			do.Spec.Late = []string{do.Image, name}
		}
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	_, err := m.engine.Run(ctx, do.Spec)
	return explainGPUs(err)
}

// explainGPUs adds to an error what it means, where the GPUs of a container are what failed.
func explainGPUs(err error) error {
	if err == nil {
		return nil
	}
	if known := nvdocker.Explain(err.Error()); known != nil {
		return fmt.Errorf("%w: %w", err, known)
	}
	return err
}

// clear removes networks and images that have the labels.
func (m *connectedHost) clear(ctx context.Context, labels map[string]string) error {
	networks, err := m.engine.ListNetworks(ctx, labels)
	if err != nil {
		return err
	}
	images, err := m.engine.ListImages(ctx, labels)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range networks {
		errs = append(errs, gone(m.engine.RemoveNetwork(ctx, n.ID)))
	}
	for _, i := range images {
		names := i.Tags // an image that was built twice has two, and goes with the last
		if len(names) == 0 {
			names = []string{i.ID}
		}
		for _, n := range names {
			errs = append(errs, gone(m.engine.RemoveImage(ctx, n)))
		}
	}
	return errors.Join(errs...)
}
