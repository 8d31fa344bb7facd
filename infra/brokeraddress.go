package infra

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mlframework/infra/broker"
	"mlframework/infra/plan"
	"mlframework/infra/probe"
)

// reachWait is how long a host, which may be busy, tries to reach an address of the master's.
const reachWait = 10 * time.Second

// addresses finds where workers reach the master's host: under the name that ssh uses, or the
// addresses of its interfaces.
func (u *up) addresses(ctx context.Context) plan.Problems {
	if u.request.Address != "" {
		return nil
	}
	master := u.connected[u.request.Master]
	facts := master.host.Facts()
	candidates, port := master.found.Addresses, cmp.Or(u.request.BrokerPort, broker.Port)
	if facts.Port != 0 {
		candidates, port = append([]string{facts.HostName}, candidates...), facts.Port
	}
	var mu sync.Mutex
	var faults plan.Problems
	errs := u.each(u.workers(), func(m *connectedHost) error {
		tried, err := m.reaches(ctx, u.request.Name, candidates, port)
		if err == nil && len(m.found.Reaches) == 0 {
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, plan.Problem{Host: m.name, What: "it reaches the master's " +
				"host under none of " + strings.Join(tried, ", "),
				Remedy: "let it through there, or name an address that it can reach with " +
					"--master-address"})
		}
		return err
	})
	slices.SortFunc(faults, func(a, b plan.Problem) int { return strings.Compare(a.Host, b.Host) })
	return append(faults, problems(errs)...)
}

// workers are the hosts of workers, but for the master's own.
func (u *up) workers() (names []string) {
	for _, h := range u.request.Hosts {
		if h.Work != nil && h.Name != u.request.Master {
			names = append(names, h.Name)
		}
	}
	return names
}

// reaches tries addresses of the master's host at a port, and the others only when the first does
// not answer. It returns those that were tried. Order: the address the worker uses now; the address
// this host saw us come from, as the master may be on the machine that asks; then the rest.
// Addresses this host has itself are skipped: every Docker host has 172.17.0.1.
func (m *connectedHost) reaches(ctx context.Context, cluster string, candidates []string,
	port int) (tried []string, err error) {
	for _, first := range []string{m.found.Client, m.found.BrokerName(cluster)} {
		if slices.Contains(candidates, first) {
			candidates = append([]string{first}, candidates...)
		}
	}
	var names []string
	for _, c := range candidates {
		at := net.JoinHostPort(c, strconv.Itoa(port))
		if !slices.Contains(tried, at) && !slices.Contains(m.found.Addresses, c) {
			tried, names = append(tried, at), append(names, c)
		}
	}
	if !m.found.Bash {
		m.found.Reaches = names // the login at the broker will tell
		return tried, nil
	}
	for _, some := range [][]string{tried[:min(1, len(tried))], tried[min(1, len(tried)):]} {
		if err != nil || len(m.found.Reaches) > 0 || len(some) == 0 {
			break
		}
		var reached []string
		reached, err = probe.Reach(ctx, m.shell, some, reachWait)
		for _, at := range reached {
			name, _, _ := net.SplitHostPort(at)
			m.found.Reaches = append(m.found.Reaches, name)
		}
	}
	return tried, err
}
