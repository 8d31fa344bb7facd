package infra

import (
	"strings"

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

// warnOfHeldBack tells that the project's files are not in force, as workers that cannot be reached
// lack them.
func (u *up) warnOfHeldBack() {
	c := u.request.Cluster
	if c.Project.Revision == "" || u.connected[c.Master].found.Revision == c.Project.Revision {
		return
	}
	if hosts := plan.LeftBehind(c, u.found(), u.old); len(hosts) > 0 && !c.Adds {
		u.o.Report.Warn("", "the project's files are in force when "+strings.Join(hosts, ", ")+
			" can get them: infrainit -f; until then run-tasks --as-pushed")
	}
}
