package site

import (
	"slices"
	"strings"

	"mlframework/infra/host"
	"mlframework/infra/plan"
)

// Without returns the value of -w with which infrainit leaves the hosts that could not be reached
// out of the cluster, as "2,3", and the names of those hosts. The value is "" where the
// configuration does not say which workers stay, or none would. Both are "" when every host was
// reached, or the master's was not: no cluster goes on without it.
func (s *Site) Without(problems plan.Problems) (workers, hosts string) {
	var away []string
	for _, p := range problems {
		if p.Unreached && !slices.Contains(away, p.Host) {
			away = append(away, p.Host)
		}
	}
	selection, err := s.Config.Selection()
	master := selection.Master
	if len(away) == 0 || master != nil && slices.Contains(away, master.Name) {
		return "", ""
	}
	hosts = strings.Join(away, ", ")
	var stay []string
	for _, w := range selection.Workers {
		if !slices.Contains(away, w.Name) {
			stay = append(stay, w.Position.String())
		}
	}
	known := !slices.ContainsFunc(away, func(name string) bool {
		return !slices.ContainsFunc(selection.Workers, func(w *host.Host) bool {
			return w.Name == name
		})
	})
	if err != nil || !known || len(stay) == 0 {
		return "", hosts
	}
	return strings.Join(stay, ","), hosts
}

// WarnOfLeft warns of hosts that did not get a project's files.
func (s *Site) WarnOfLeft(left plan.Problems) {
	for _, p := range left {
		s.Printer.Warn(p.Host, "it does not have the new files, and gets no tasks that need them "+
			"until infrainit -f has brought them: "+p.What)
	}
}
