package infra

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// discover reaches and asks all hosts, and checks what they say.
func (u *up) discover(ctx context.Context) error {
	faults, err := u.connect(ctx, u.targets(true))
	if err != nil {
		return err
	}
	faults = append(faults, u.probe(ctx, u.reached())...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := u.join(); err != nil {
		return errors.Join(orNil(faults), err)
	}
	u.holders(ctx)
	faults = append(faults, plan.Check(u.request.Cluster, u.found())...)
	if err := u.skipBad(ctx, faults); err != nil {
		return err
	}
	if err := u.leavers(ctx); err != nil {
		return err
	}
	if err := orNil(plan.CheckNames(u.request.Cluster, u.found(), u.old)); err != nil {
		return err
	}
	if err := u.elsewhere(ctx); err != nil {
		return err
	}
	u.warnOfLeavers()
	return u.skipBad(ctx, u.addresses(ctx))
}

// targets are those of hosts that the cluster is to have, or of those that are listed and carry
// nothing.
func (u *up) targets(wanted bool) map[string]remote.Target {
	targets := maps.Clone(u.request.Targets)
	maps.DeleteFunc(targets, func(name string, _ remote.Target) bool {
		return u.wanted(name) != wanted
	})
	return targets
}

func (u *up) wanted(name string) bool {
	return slices.ContainsFunc(u.request.Hosts, func(h plan.Host) bool { return h.Name == name })
}

func orNil(p plan.Problems) error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// probe asks hosts for their facts. Those that do not answer are dropped; those without Docker are
// until it was looked at what else is wrong with them.
func (u *up) probe(ctx context.Context, names []string) plan.Problems {
	errs := u.each(names, func(m *connectedHost) error {
		err := m.probe(ctx, u.request.Folder, u.request.Sources(m.name), u.o.Now)
		if err != nil || m.engine == nil {
			return err
		}
		if err := m.list(ctx, u.request.Name, nil); err != nil {
			return err
		}
		limited, stop := context.WithTimeout(ctx, gpuTime)
		defer stop()
		m.gpus(limited)
		return nil
	})
	for n := range errs {
		if u.connected[n].found.Root == "" {
			u.drop(ctx, n)
		}
	}
	return problems(errs)
}

// drop lets go of a host, and removes the program that was brought there for nothing.
func (u *up) drop(ctx context.Context, name string) {
	if m, there := u.connected[name]; there {
		u.leave(ctx, name)
		_ = m.close()
		delete(u.connected, name)
	}
}

// holders looks who has a port that was named for the master's host.
func (u *up) holders(ctx context.Context) {
	m, there := u.connected[u.request.Master]
	if there && m.engine != nil && (u.request.BrokerPort != 0 || u.request.MonitorPort != 0) {
		m.found.Others, _ = m.engine.List(ctx, nil) // only the words of a fault depend on it
	}
}

// join finds the master of the cluster that runs.
func (u *up) join() error {
	if u.request.Master != "" {
		return nil
	}
	u.request.Adds = true
	missing := &NoMaster{Name: u.request.Name}
	for _, n := range u.reached() {
		for _, c := range u.connected[n].found.Containers {
			if c.Labels[plan.RoleLabel] != plan.Master {
				continue
			}
			if c.Labels[plan.ClusterLabel] == u.request.Name {
				u.request.Master = n
				return nil
			}
			missing.Others = append(missing.Others, c.Labels[plan.ClusterLabel])
		}
	}
	return missing
}

// skipBad warns, leaves out hosts whose disk is full and others that may be, and gives what is wrong with the others.
func (u *up) skipBad(ctx context.Context, faults plan.Problems) error {
	for _, p := range faults {
		if p.Warning {
			u.o.Report.Warn(p.Host, p.What+"; "+p.Remedy)
		}
	}
	faults = faults.Faults()
	if len(faults) == 0 {
		return nil
	}
	if slices.ContainsFunc(faults, func(p plan.Problem) bool {
		return p.Host == u.request.Master || !p.Full && !u.request.SkipBad
	}) {
		return faults
	}
	u.skipped = append(u.skipped, faults...)
	for _, p := range faults {
		u.o.Report.Warn(p.Host, "left out: "+p.What)
		u.drop(ctx, p.Host)
	}
	u.request.Hosts = slices.DeleteFunc(slices.Clone(u.request.Hosts), func(h plan.Host) bool {
		_, there := u.connected[h.Name]
		return !there
	})
	return nil
}

// leavers reads what the cluster was made of, and reaches hosts that are not listed any more. One
// that is away is a warning: the record has it until it was there once more, or is given up.
func (u *up) leavers(ctx context.Context) (err error) {
	if u.old, err = u.record(ctx, u.connected[u.request.Master]); err != nil {
		return err
	}
	u.request.Owner = cmp.Or(u.old.Owner, u.connected[u.request.Master].found.User)
	u.warnOfStrangers(u.old, u.request.Targets)
	if u.request.Adds {
		return nil
	}
	targets := map[string]remote.Target{}
	for _, h := range u.old.Hosts {
		skipped := slices.ContainsFunc(u.skipped, func(p plan.Problem) bool {
			return p.Host == h.Name
		})
		if !u.wanted(h.Name) && !skipped { // one with a fault does not leave
			targets[h.Name] = u.target(h)
		}
	}
	away, err := u.connect(ctx, targets)
	if err != nil {
		return err
	}
	away = append(away, u.probe(ctx, u.among(targets))...)
	for _, p := range away {
		u.drop(ctx, p.Host)
		if u.keepsOutputs(p.Host) && !u.request.SkipBad {
			continue
		}
		next := "it gets no tasks now. When it is back, infrainit -f removes its container; " +
			"if it never comes back: infrainit -f --skip-bad"
		if u.request.SkipBad {
			next = "it is removed from the cluster for good, and what it has stays there"
		}
		u.o.Report.Warn(p.Host, "it is off, or cannot be asked ("+p.What+"): "+next)
		if u.keepsOutputs(p.Host) {
			continue
		}
		u.request.Away = append(u.request.Away, p.Host)
	}
	u.request.GiveUp = u.request.SkipBad
	return nil
}

// keepsOutputs reports whether a host has left before, and had outputs then.
func (u *up) keepsOutputs(host string) bool {
	return slices.ContainsFunc(u.old.Hosts, func(h layout.RecordHost) bool {
		return h.Name == host && h.Outputs
	})
}

// warnOfLeavers tells of hosts that leave and were reached.
func (u *up) warnOfLeavers() {
	for _, h := range u.old.Hosts {
		m, reached := u.connected[h.Name]
		switch {
		case !reached || u.wanted(h.Name) || h.Outputs:
		case slices.Contains(m.found.Outputs, h.Name):
			u.o.Report.Warn(h.Name, "it leaves the cluster; the outputs of its tasks stay in "+
				m.found.Root+": run-tasks fetch copies them, infra-clean --files removes them")
		default:
			u.o.Report.Warn(h.Name, "it leaves the cluster; it has no outputs of tasks")
		}
	}
}

// warnOfStrangers tells of hosts that the record on the master's host names, and that nobody has
// listed here: commands connect to them as well, and so does infra-clean.
func (s *session) warnOfStrangers(r layout.Record, listed map[string]remote.Target) {
	var all []string
	for _, h := range r.Hosts {
		if _, known := listed[h.Name]; !known {
			all = append(all, h.Name+" ("+h.Address+")")
		}
	}
	if len(all) > 0 {
		s.o.Report.Warn(r.Master, "the cluster's record there names hosts that are not listed "+
			"here, to which commands connect as well: "+
			strings.Join(all, ", "))
	}
}

// target is how a host of the record is reached: as the user says, if it is known here.
func (u *up) target(h layout.RecordHost) remote.Target {
	if t, known := u.request.Targets[h.Name]; known {
		return t
	}
	return remote.Target{Name: h.Address}
}

// among are the names of targets that were reached.
func (u *up) among(targets map[string]remote.Target) []string {
	return slices.DeleteFunc(sortedKeys(targets), func(n string) bool {
		_, there := u.connected[n]
		return !there
	})
}

// elsewhere makes sure that the cluster has no master on another host than the one that is wanted.
// One without a record may be new to it: then those that carry nothing are looked at, too. Those
// that are away cannot be.
func (u *up) elsewhere(ctx context.Context) error {
	if u.request.Adds {
		return nil
	}
	found := u.found()
	if u.old.Version == 0 {
		idle := u.targets(false)
		if _, err := u.connect(ctx, idle); err != nil {
			return err
		}
		u.probe(ctx, u.among(idle))
		found = u.found()
		for n := range idle {
			u.drop(ctx, n)
		}
	}
	return orNil(append(plan.CheckMasterHost(u.request.Cluster, found, u.old),
		plan.CheckVersions(u.request.Cluster, u.old)...))
}
