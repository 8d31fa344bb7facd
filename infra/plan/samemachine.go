package plan

// sameMachine finds hosts that are one machine under several names: with one kernel and one Docker.
// Either alone says too little, as machines are cloned and containers are hosts, too.
func sameMachine(c Cluster, found map[string]Found) (all Problems) {
	type machine struct{ boot, engine string }
	first := map[machine]string{}
	for _, h := range c.Hosts {
		f := found[h.Name]
		m := machine{f.Boot, f.Engine.ID}
		if m.boot == "" || m.engine == "" {
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
