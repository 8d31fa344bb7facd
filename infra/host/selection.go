package host

import "errors"

// ErrNothing says that neither a master nor a worker was asked for.
var ErrNothing = errors.New("nothing to start: name the master's host with -m, workers' with -w, " +
	"or both")

// Host is one machine of a cluster.
type Host struct {
	Address  Address
	Position Position
	Name     string // of its worker, see Names
}

// Selection is the machines of a cluster and what they carry. The zero value is none.
type Selection struct {
	// this machine when it carries something, then the list in its order; whoever shares it must
	// not change it
	Hosts   []Host
	Master  *Host // nil joins the cluster that runs; points into Hosts
	Workers []*Host
}

// Select puts the options together. No master means to join the cluster that runs, no workers the
// master alone. Errors are Faults, and ErrNothing when there is neither.
func Select(hosts []Address, master Position, workers []Position) (Selection, error) {
	if faults := Check(hosts, master, workers); len(faults) > 0 {
		return Selection{}, faults
	}
	if master == 0 && len(workers) == 0 {
		return Selection{}, ErrNothing
	}
	var s Selection
	names := Names(hosts)
	needed := append([]Position{master}, workers...)
	for _, p := range needed {
		if p == Here {
			s.Hosts = append(s.Hosts, Host{Local, Here, LocalName})
			break
		}
	}
	for i, a := range hosts {
		s.Hosts = append(s.Hosts, Host{a, Position(i + 1), names[i]})
	}
	s.Master = s.at(master)
	for _, p := range workers {
		s.Workers = append(s.Workers, s.at(p))
	}
	return s, nil
}

// at is nil for no position.
func (s *Selection) at(p Position) *Host {
	for i := range s.Hosts {
		if s.Hosts[i].Position == p {
			return &s.Hosts[i]
		}
	}
	return nil
}
