package plan

import (
	"fmt"

	"mlframework/infra/host"
	"mlframework/infra/layout"
)

// machine tells machines apart: by their kernel and their Docker. Either alone says too little, as
// machines are cloned and containers are hosts, too.
type machine struct{ boot, engine string }

// machine returns which machine the host is; known is false where it does not tell.
func (f Found) machine() (m machine, known bool) {
	return machine{f.Boot, f.Engine.ID}, f.Boot != "" && f.Engine.ID != ""
}

// sameMachine finds hosts that are one machine under several names.
func sameMachine(c Cluster, found map[string]Found) (all Problems) {
	first := map[machine]string{}
	for _, h := range c.Hosts {
		m, known := found[h.Name].machine()
		if !known {
			continue
		}
		other, twice := first[m]
		if !twice {
			first[m] = h.Name
			continue
		}
		all = append(all, Problem{Host: h.Name, What: "it is the same machine as " + other,
			Remedy: "list it once (-a): a host has one worker, with as many slots as it can use"})
	}
	return all
}

// rename returns the remedy where a host of the cluster is listed under another name: that of
// others, but for a machine that the cluster has as host.LocalName, the name by which only calls on
// that machine know it.
func rename(as, option, others string) string {
	if as == host.LocalName {
		return fmt.Sprintf("call infrainit on that machine, with %s %s", option, as)
	}
	return others
}

// CheckNames finds hosts that the cluster has under another name: what a host keeps, and what the
// master knows of its worker, goes by the name, and the worker of the other name would be removed
// from the machine on which this one is wanted. old is the record, and found holds the hosts of it
// that were reached, too.
func CheckNames(c Cluster, found map[string]Found, old layout.Record) (all Problems) {
	if old.Version != 0 && old.Master != c.Master {
		return Problems{{Host: c.Master, What: fmt.Sprintf("it has the master of the cluster %s "+
			"under the name %s", c.Name, old.Master),
			Remedy: rename(old.Master, "-m", "list it under that name")}}
	}
	for _, h := range c.Hosts {
		f := found[h.Name]
		m, known := f.machine()
		worker, _ := f.role(c.Name, Worker)
		for _, o := range old.Hosts {
			other, _ := found[o.Name].machine()
			if o.Name == h.Name || worker.Labels[HostLabel] != o.Name && !(known && m == other) {
				continue
			}
			all = append(all, Problem{Host: h.Name,
				What: fmt.Sprintf("it is in the cluster as %s (%s)", o.Name, o.Address),
				Remedy: rename(o.Name, "-w", fmt.Sprintf("list it so that its name is %s (-a), "+
					"which may be an alias in ~/.ssh/config (Host %s, HostName %s); or fetch its "+
					"outputs, remove its worker (infrainit -f with the list of before, and -w "+
					"without it), and add it anew", o.Name, o.Name,
					h.Address.Name))})
		}
	}
	return all
}
