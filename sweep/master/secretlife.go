package master

import (
	"fmt"
	"time"

	"mlframework/sweep/core"
)

// pausedSecretLife is how long the values of a paused sweep's secrets are kept.
const pausedSecretLife = 14 * 24 * time.Hour

// expireSecrets notes since when sweeps with secrets have been paused, and removes the values of those that have been for
// too long. What is noted is compared with how each sweep stands: a master that was killed may have changed only one.
func (m *Master) expireSecrets(now time.Time) {
	if m.vault == nil {
		return
	}
	for _, a := range m.sweeps {
		if a.edition == "" {
			continue
		}
		switch paused := a.ledger.Head().State == core.Paused; {
		case !paused:
			m.notePaused(a, time.Time{})
		case a.pausedSince.IsZero():
			m.notePaused(a, now)
		case now.Sub(a.pausedSince) >= pausedSecretLife:
			m.removePaused(a)
		}
	}
}

// notePaused keeps since when a sweep has been paused; zero: it is not.
func (m *Master) notePaused(a *active, since time.Time) {
	if m.vault == nil || a.edition == "" || a.pausedSince.Equal(since) {
		return
	}
	a.pausedSince = since
	if err := m.vault.NotePaused(a.stored.Head.ID, since); err != nil {
		m.o.Log.Error("since when a sweep has been paused cannot be kept", "sweep", a.stored.Head.ID, "error", err)
	}
}

// removePaused removes the values of a sweep that has been paused for too long. It asks for them when it goes on.
func (m *Master) removePaused(a *active) {
	id, days := a.stored.Head.ID, int(pausedSecretLife.Hours()/24)
	m.dropSecrets(a)
	a.pausedSince = time.Time{}
	a.ledger.AddReason(fmt.Sprintf("the values of its secrets were removed after %d days; set them in the environment, and `run-tasks resume %s` sends them again", days, id))
	m.enter("remove-secrets", "sweep", id, fmt.Sprintf("paused for %d days", days))
}

// keepsSecrets reports whether there are values that may have to be removed.
func (m *Master) keepsSecrets() bool {
	for _, a := range m.sweeps {
		if a.edition != "" {
			return true
		}
	}
	return false
}
