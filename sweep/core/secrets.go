package core

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"mlframework/sweep/task"
)

// pausedSecretLife is how long the values of a paused sweep's secrets are kept.
const pausedSecretLife = 14 * 24 * time.Hour

// LacksSecrets reports whether a sweep that the core has cannot be handed out for want of its
// secrets.
func (c *Core) LacksSecrets(id string) bool {
	a := c.sweeps[id]
	return a != nil && c.lacksSecrets(a)
}

func (c *Core) lacksSecrets(a *activeSweep) bool {
	return !c.options.Local && len(a.secrets()) > 0 && a.edition == ""
}

// pauseWithoutSecrets pauses a sweep that lacks its secrets.
func (c *Core) pauseWithoutSecrets(a *activeSweep) {
	if h := a.ledger.Head(); c.lacksSecrets(a) && h.State == Open {
		c.log(slog.LevelError, "a sweep waits, as the values of its secrets are gone",
			"sweep", h.ID)
		c.ledger(a).Pause("the values of its secrets are gone from the master; `run-tasks resume "+
			h.ID+"` sends them again", false)
	}
}

// answerNeeds answers what the registered process of a worker needs. Its key belongs to the
// registration: a heartbeat with another one is answered with nothing. A master that was started
// again learns the key with the first heartbeat.
func (c *Core) answerNeeds(w *worker, h *task.Heartbeat) {
	if len(w.key) == 0 {
		w.key = h.Key
	}
	if len(h.Needs) == 0 {
		return
	}
	if !bytes.Equal(w.key, h.Key) {
		if !w.keyRefused {
			c.logOf(w, slog.LevelError, "secrets are asked for with a key that is not that "+
				"of the worker's process; they are not sent", "worker", h.Worker)
			w.keyRefused = true
		}
		return
	}
	for _, n := range h.Needs[:min(len(h.Needs), task.MaxNeeds)] {
		c.answerNeed(w, n)
	}
}

// answerNeed sends the values of a sweep's secrets to a worker that holds attempts of it. What
// belongs to a sweep that has ended, to other values than there are now, or to a sweep that waits
// for its secrets itself, is called back.
func (c *Core) answerNeed(w *worker, n task.Need) {
	name := w.record.Name
	recall := func(reason string) {
		c.sendControl(name, task.Control{Kind: task.RecallControl, Sweep: n.Sweep, Reason: reason})
	}
	a := c.sweeps[n.Sweep]
	switch {
	case a == nil:
		recall("superseded")
	case a.ledger.Assigned(name) == 0:
	case c.unreadable[n.Sweep] || c.lacksSecrets(a):
		a.edition = ""
		c.pauseWithoutSecrets(a)
		recall("its secrets are gone")
	case n.Edition != a.edition:
		recall("superseded")
	default:
		c.send(Message{Worker: name, Secrets: &SecretsRelease{Need: n, Key: w.key}})
		c.noteRelease(w, n)
	}
}

// release is what the audit has of the secrets of a sweep that processes of a worker were sent.
type release struct {
	incarnation string // of the newest process that was sent them
	entries     rateLimit
}

// noteRelease records that a process was sent the secrets of a sweep, once: it asks until they
// come.
func (c *Core) noteRelease(w *worker, n task.Need) {
	r := w.released[n]
	if r == nil {
		maps.DeleteFunc(w.released, func(old task.Need, _ *release) bool { return !c.current(old) })
		if w.released == nil {
			w.released = map[task.Need]*release{}
		}
		r = &release{}
		w.released[n] = r
	}
	if r.incarnation == w.record.Incarnation {
		return
	}
	r.incarnation = w.record.Incarnation
	c.logOf(w, slog.LevelInfo,
		"secrets of a sweep are sent to a worker", "sweep", n.Sweep, "worker", w.record.Name,
		"host", w.record.Host)
	c.addLimitedAudit(&r.entries, "release-secrets", "sweep", n.Sweep,
		"worker="+w.record.Name+" process="+w.record.Incarnation)
}

// current reports whether there are the values that a need is for.
func (c *Core) current(n task.Need) bool {
	a := c.sweeps[n.Sweep]
	return a != nil && a.edition == n.Edition
}

// dropSecrets removes the values of a sweep that does not need them any more.
func (c *Core) dropSecrets(a *activeSweep) {
	if a.edition != "" {
		a.edition, a.pausedSince = "", time.Time{}
		c.effects.Vault = append(c.effects.Vault, VaultChange{Sweep: a.id(), Remove: true})
	}
}

// expireSecrets notes since when sweeps with secrets have been paused, and removes the values of
// those that have been for too long. What is noted is compared with how each sweep stands: a master
// that was killed may have changed only one.
func (c *Core) expireSecrets() {
	for _, a := range c.inOrder {
		if a.edition == "" {
			continue
		}
		switch paused := a.ledger.Head().State == Paused; {
		case !paused:
			c.notePaused(a, time.Time{})
		case a.pausedSince.IsZero():
			c.notePaused(a, c.now)
		case c.now.Sub(a.pausedSince) >= pausedSecretLife:
			c.removePausedSecrets(a)
		}
	}
}

// notePaused keeps since when a sweep has been paused; zero: it is not.
func (c *Core) notePaused(a *activeSweep, since time.Time) {
	if a.edition == "" || a.pausedSince.Equal(since) {
		return
	}
	a.pausedSince = since
	c.effects.Vault = append(c.effects.Vault, VaultChange{Sweep: a.id(), PausedSince: since})
}

// removePausedSecrets removes the values of a sweep that has been paused for too long. It asks for
// them when it is resumed.
func (c *Core) removePausedSecrets(a *activeSweep) {
	id, days := a.id(), int(pausedSecretLife.Hours()/24)
	c.dropSecrets(a)
	c.ledger(a).AddReason(fmt.Sprintf("the values of its secrets were removed after %d days; "+
		"set them in the environment, and `run-tasks resume %s` sends them again", days, id))
	c.addAudit("remove-secrets", "sweep", id, fmt.Sprintf("paused for %d days", days))
}

// keepsSecrets reports whether there are values that may have to be removed.
func (c *Core) keepsSecrets() bool {
	for _, a := range c.inOrder {
		if a.edition != "" {
			return true
		}
	}
	return false
}
