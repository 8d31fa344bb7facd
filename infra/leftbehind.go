package infra

import (
	"mlframework/infra/plan"
)

// warnOfLeftBehind tells of workers that cannot be reached while a plan rotates: also where nobody
// asked for a rotation, because the authority is old.
func (u *up) warnOfLeftBehind(p plan.Plan) {
	if !p.Rotates() {
		return
	}
	for _, host := range plan.LeftBehind(u.request.Cluster, u.found(), u.old) {
		u.o.Report.Warn(host, "it was not reached: its worker keeps the password of before, "+
			"which the broker refuses from now on, until infrainit -f has reached it")
	}
}

// warnOfMissingFiles tells of workers that cannot be reached and do not get the project's files.
func (u *up) warnOfMissingFiles() {
	c := u.request.Cluster
	if c.Adds || c.Project.Revision == "" ||
		u.connected[c.Master].found.Revision == c.Project.Revision {
		return
	}
	for _, host := range plan.LeftBehind(c, u.found(), u.old) {
		u.o.Report.Warn(host, "it is left out: it does not have the project's new files, and "+
			"gets no tasks that need them until infrainit -f has brought them")
	}
}
