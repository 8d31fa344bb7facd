package master

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

// NoSecrets says that a sweep cannot begin or go on for want of the values of its secrets, or because others came.
type NoSecrets struct {
	Sweep string // or definition
	Names []string
	Why   string
	Gone  bool // they were here: they go when a sweep ends, or is paused for long
}

func (e *NoSecrets) Error() string {
	if len(e.Names) == 0 {
		return e.Sweep + " names no secrets: " + e.Why
	}
	return fmt.Sprintf("%s names secrets (%s): %s", e.Sweep, strings.Join(e.Names, ", "), e.Why)
}

// openVault opens the folder of secrets, drops those that no sweep needs any more, and finds those of the sweeps that have
// not ended. A sweep without them waits for a person.
func (m *Master) openVault() (err error) {
	if m.o.Secrets != "" && !m.o.Alone {
		m.vault, err = secret.OpenVault(m.o.Secrets, func(id string) bool { return m.sweeps[id] != nil })
	}
	for _, a := range m.sweeps {
		m.edition(a)
		m.hold(a)
	}
	return err
}

// edition reads which values a sweep has.
func (m *Master) edition(a *active) {
	if m.vault == nil || len(a.secrets()) == 0 {
		return
	}
	kept, err := m.vault.Get(a.stored.Head.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.o.Log.Error("secrets of a sweep cannot be read", "sweep", a.stored.Head.ID, "error", err)
	}
	a.edition, a.pausedSince = kept.Edition, kept.PausedSince
}

// secrets are the names of a sweep's, and version is that of its batches.
func (a *active) secrets() []string { return a.stored.Record.Recipe.Secrets }
func (a *active) version() int      { return a.stored.Record.Recipe.Version() }

// lacks tells whether a sweep cannot be handed out for want of its secrets.
func (m *Master) lacks(a *active) bool {
	return !m.o.Alone && len(a.secrets()) > 0 && a.edition == ""
}

// hold pauses a sweep that lacks its secrets.
func (m *Master) hold(a *active) {
	if h := a.ledger.Head(); m.lacks(a) && h.State == core.Open {
		m.o.Log.Error("a sweep waits, as the values of its secrets are gone", "sweep", h.ID)
		a.ledger.Pause("the values of its secrets are gone from the master; `run-tasks resume "+h.ID+"` sends them again", false)
	}
}

// draft writes the values of a new sweep to the disk, after a look at them; nil when it names none.
func (m *Master) draft(sweep string, names []string, values secret.Values) (*secret.Draft, error) {
	wrong := func(why string) (*secret.Draft, error) { return nil, &NoSecrets{Sweep: sweep, Names: names, Why: why} }
	switch err := values.Check(names); {
	case m.o.Alone && len(values) > 0:
		return wrong("a run on this machine takes their values from its own environment only")
	case m.o.Alone || len(names) == 0 && len(values) == 0:
		return nil, nil
	case err != nil:
		return wrong(err.Error())
	case m.vault == nil:
		return wrong("this master has no folder to keep their values in")
	}
	return m.vault.Draft(values)
}

// prepare looks at what a submission says of secrets, and writes their values to the disk.
func (m *Master) prepare(s Submission) (*secret.Draft, error) {
	recipe := s.Record.Recipe
	if len(recipe.Secrets) > 0 {
		if err := m.programs(recipe); err != nil {
			return nil, err
		}
	}
	return m.draft(recipe.Definition, recipe.Secrets, s.Secrets)
}

// equip gives a sweep that was submitted its values, unless it has them since an earlier submission of it. Where they cannot
// be kept it waits.
func (m *Master) equip(a *active, d *secret.Draft) (err error) {
	if d != nil && m.lacks(a) && a.ledger.Head().Ended.IsZero() {
		a.edition, err = d.Keep(a.stored.Head.ID)
	}
	m.hold(a)
	return err
}

// supply gives a sweep that goes on the values of its secrets where they are gone. Those that it has it keeps: who lets the
// sweep of another go on does not change whose credentials it uses.
func (m *Master) supply(a *active, values secret.Values) error {
	if !m.lacks(a) {
		m.notePaused(a, time.Time{}) // it goes on
		return nil
	}
	id := a.stored.Head.ID
	if len(values) == 0 {
		return &NoSecrets{Sweep: id, Names: a.secrets(), Why: "their values are not on the master any more, as they go when a sweep ends or has been paused for 14 days", Gone: true}
	}
	if err := m.programs(a.stored.Record.Recipe); err != nil {
		return err
	}
	d, err := m.draft(id, a.secrets(), values)
	if err != nil {
		return err
	}
	defer d.Drop()
	a.edition, err = d.Keep(id)
	a.pausedSince = time.Time{}
	return err
}

// programs refuses a sweep with secrets where none of the workers that are there understands it.
func (m *Master) programs(r task.Recipe) error {
	version := r.Version()
	var old []string
	for _, name := range m.names() {
		switch w := m.workers[name]; {
		case !w.registered() || w.away != "":
		case w.reads(version):
			return nil
		default:
			old = append(old, name)
		}
	}
	if len(old) == 0 || m.o.Alone {
		return nil
	}
	return &NoSecrets{Sweep: r.Definition, Names: r.Secrets,
		Why: "the programs of the workers are older than the master's and know none: update " + strings.Join(old, ", ")}
}

// reads tells whether a worker's program understands batches of a version.
func (w *member) reads(version int) bool { return version <= max(w.beat.Reads, task.Version) }

// tellSecrets answers what the registered process of a worker needs. Its key belongs to the registration: a heartbeat with
// another one is answered with nothing. A master that was started again learns the key with the first heartbeat.
func (m *Master) tellSecrets(w *member, h task.Heartbeat) {
	if len(w.key) == 0 {
		w.key = h.Key
	}
	if len(h.Needs) == 0 {
		return
	}
	if !bytes.Equal(w.key, h.Key) {
		if !w.asked {
			m.o.Log.Error("secrets are asked for with a key that is not that of the worker's process; they are not sent", "worker", h.Worker)
			w.asked = true
		}
		return
	}
	for _, n := range h.Needs[:min(len(h.Needs), task.MostNeeds)] {
		if err := m.tellNeed(w, n); err != nil {
			m.o.Log.Error("secrets cannot be sent to a worker", "worker", h.Worker, "sweep", n.Sweep, "error", err)
		}
	}
}

// tellNeed sends the values of a sweep's secrets to a worker that holds attempts of it. What belongs to a sweep that has
// ended, to other values than there are now, or to a sweep that waits for its secrets itself, is called back.
func (m *Master) tellNeed(w *member, n task.Need) error {
	name := w.kept.Name
	recall := func(reason string) {
		m.post.tell(name, task.Control{Kind: task.RecallControl, Sweep: n.Sweep, Reason: reason})
	}
	a := m.sweeps[n.Sweep]
	if a == nil {
		recall("superseded")
		return nil
	}
	if m.vault == nil || len(a.ledger.Held(name)) == 0 {
		return nil
	}
	kept, err := m.vault.Get(n.Sweep)
	if err != nil {
		a.edition = ""
		m.hold(a)
		recall("its secrets are gone")
		return err
	}
	if n.Edition != kept.Edition {
		recall("superseded")
		return nil
	}
	sealed, err := secret.Seal(w.key, n.About(name), kept.Values)
	if err != nil {
		return err
	}
	m.post.tell(name, task.Control{Kind: task.SecretsControl, Sweep: n.Sweep, Edition: n.Edition, Secrets: sealed})
	m.released(w, n)
	return nil
}

// released records that a process was sent the secrets of a sweep, once: it asks until they come.
func (m *Master) released(w *member, n task.Need) {
	if w.released[n] {
		return
	}
	if w.released == nil {
		w.released = map[task.Need]bool{}
	}
	w.released[n] = true
	m.o.Log.Info("secrets of a sweep are sent to a worker", "sweep", n.Sweep, "worker", w.kept.Name, "host", w.kept.Host)
	m.enter("release-secrets", "sweep", n.Sweep, "worker="+w.kept.Name+" process="+w.kept.Incarnation)
}

// dropSecrets removes the values of a sweep that does not need them any more.
func (m *Master) dropSecrets(a *active) {
	if m.vault == nil || a.edition == "" {
		return
	}
	a.edition = ""
	if err := m.vault.Remove(a.stored.Head.ID); err != nil { // the next start removes them
		m.o.Log.Error("secrets that no sweep needs are still there", "error", err)
	}
}
