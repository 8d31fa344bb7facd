package plan

import (
	"fmt"
	"maps"
	"slices"

	"mlframework/infra/layout"
)

// CheckMasterHost finds that the cluster has its master on another host than the one that is
// wanted: its sweeps are there, and nothing takes them along. Found may hold hosts that the cluster
// does not have; old is the record of the wanted one.
func CheckMasterHost(c Cluster, found map[string]Found, old layout.Record) (all Problems) {
	if _, runs := found[c.Master].role(c.Name, Master); runs && old.Version == 0 {
		return Problems{{Host: c.Master,
			What: fmt.Sprintf("the cluster %s runs there, but not from %s: it was brought up as "+
				"another user of this host, or with another -r", c.Name, found[c.Master].Root),
			Remedy: "log in as that user (-a USER@HOST), or name its -r; or choose another --name"}}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(n string) bool {
		return n == c.Master
	})
	for _, n := range names {
		if _, runs := found[n].role(c.Name, Master); runs || slices.Contains(found[n].Volumes,
			c.volumeName(Master)) {
			all = append(all, Problem{Host: n, What: fmt.Sprintf("the master of the cluster %s "+
				"is here, with its sweeps", c.Name),
				Remedy: "go on with it: name this host with -m; or remove the cluster with its " +
					"sweeps first, with the infra-clean of that cluster and --volumes"})
		}
	}
	if len(all) > 0 || old.Version != 0 {
		return all
	}
	for _, n := range names {
		if w, works := found[n].role(c.Name, Worker); works {
			all = append(all, Problem{Host: n, What: fmt.Sprintf("its worker belongs to a "+
				"cluster %s whose master is elsewhere (%s)", c.Name, w.Labels[addressLabel]),
				Remedy: "list that host and name it with -m; or remove that cluster first, with " +
					"its infra-clean; or choose another --name"})
		}
	}
	return all
}
