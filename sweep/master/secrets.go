package master

import (
	"errors"
	"io/fs"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// openVault opens the folder of secrets and drops those that no sweep needs any more.
func (m *Master) openVault(unended []store.Sweep, damaged []*store.DamagedSweep) (err error) {
	if m.o.Secrets == "" || m.o.Local {
		return nil
	}
	needed := map[string]bool{}
	for _, d := range damaged {
		needed[d.ID] = true
	}
	for _, s := range unended {
		needed[s.Head.ID] = true
	}
	m.vault, err = secret.OpenVault(m.o.Secrets, func(id string) bool { return needed[id] })
	return err
}

// keptSecrets reads which values of its secrets a sweep has, and since when it has been paused.
func (m *Master) keptSecrets(s store.Sweep) (edition string, pausedSince time.Time) {
	if m.vault == nil || len(s.Record.Recipe.Secrets) == 0 {
		return "", time.Time{}
	}
	kept, err := m.vault.Get(s.Head.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.o.Log.Error("secrets of a sweep cannot be read", "sweep", s.Head.ID, "error", err)
	}
	return kept.Edition, kept.PausedSince
}

// lookUpNeeds notes the sweeps whose secrets a worker asks for and that cannot be read.
func (m *Master) lookUpNeeds(in *core.Input, h *task.Heartbeat) {
	if m.vault == nil || task.Foreign(h.Version) {
		return
	}
	for _, n := range h.Needs[:min(len(h.Needs), task.MaxNeeds)] {
		if !m.core.Has(n.Sweep) {
			continue
		}
		if _, err := m.vault.Get(n.Sweep); err != nil {
			m.o.Log.Error("secrets cannot be sent to a worker", "worker", h.Worker, "sweep",
				n.Sweep, "error", err)
			mark(&in.Unreadable, n.Sweep)
		}
	}
}

// sealed puts the values of secrets into the messages that release them. A message whose values
// cannot be read is left out: the worker asks again.
func (m *Master) sealed(messages []core.Message) []core.Message {
	all := messages[:0]
	for _, message := range messages {
		if r := message.Secrets; r != nil {
			values, err := m.seal(message.Worker, r)
			if err != nil {
				m.o.Log.Error("secrets cannot be sent to a worker", "worker", message.Worker,
					"sweep", r.Need.Sweep, "error", err)
				continue
			}
			message.Control = &task.Control{Version: task.Version, Kind: task.SecretsControl,
				Sweep:   r.Need.Sweep,
				Edition: r.Need.Edition, Secrets: values}
		}
		all = append(all, message)
	}
	return all
}

func (m *Master) seal(worker string, r *core.SecretsRelease) ([]byte, error) {
	if m.vault == nil {
		return nil, fs.ErrNotExist
	}
	kept, err := m.vault.Get(r.Need.Sweep)
	if err != nil {
		return nil, err
	}
	if kept.Edition != r.Need.Edition {
		return nil, errors.New("they have changed")
	}
	return secret.Seal(r.Key, r.Need.About(worker), kept.Values)
}

// changeVault does what a step decided about the values of sweeps.
func (m *Master) changeVault(changes []core.VaultChange) {
	if m.vault == nil {
		return
	}
	for _, c := range changes {
		if c.Remove {
			if err := m.vault.Remove(c.Sweep); err != nil { // the next start removes them
				m.o.Log.Error("cannot remove secrets that no sweep needs", "error", err)
			}
		} else if err := m.vault.NotePaused(c.Sweep, c.PausedSince); err != nil {
			m.o.Log.Error("cannot record since when a sweep has been paused", "sweep", c.Sweep,
				"error", err)
		}
	}
}

// draft writes values to the disk, after a look at them; nil when there are no names. Sweep is a
// sweep's id, or its definition.
func (m *Master) draft(sweep string, names []string, values secret.Values) (*secret.StagedValues,
	error) {
	wrong := func(why string) (*secret.StagedValues, error) {
		return nil, &core.NoSecrets{Sweep: sweep, Names: names, Why: why}
	}
	switch err := values.Check(names); {
	case m.o.Local && len(values) > 0:
		return wrong("a run on this machine takes their values from its own environment only")
	case m.o.Local || len(names) == 0 && len(values) == 0:
		return nil, nil
	case err != nil:
		return wrong(err.Error())
	case m.vault == nil:
		return wrong("this master has no folder to keep their values in")
	}
	return m.vault.Stage(values)
}

// draftNew looks at what a submission says of secrets, and writes their values to the disk.
func (m *Master) draftNew(s Submission) (*secret.StagedValues, error) {
	recipe := s.Record.Recipe
	return m.draft(recipe.Definition, recipe.Secrets, s.Secrets)
}

// supply keeps the values of the secrets of a sweep that goes on, where they are gone, and returns
// their edition. Those that it has it keeps: letting the sweep of another go on does not change
// whose credentials it uses.
func (m *Master) supply(id string, values secret.Values) (edition string, err error) {
	if !m.core.LacksSecrets(id) {
		return "", nil
	}
	record, _ := m.core.Record(id)
	names := record.Recipe.Secrets
	if len(values) == 0 {
		return "", &core.NoSecrets{Sweep: id, Names: names, Gone: true,
			Why: "their values are not on the master any more, as they go when a sweep ends or " +
				"has been paused for 14 days"}
	}
	d, err := m.draft(id, names, values)
	if err != nil {
		return "", err
	}
	defer d.Discard()
	return d.Commit(id)
}
