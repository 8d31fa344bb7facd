package monitor

import "time"

// WrongLogins counts wrong logins.
type WrongLogins struct{ wrongLogins }

// Note is note.
func (l *WrongLogins) Note(now time.Time) (due bool, others int) { return l.note(now) }
