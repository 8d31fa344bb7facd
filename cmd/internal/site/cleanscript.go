package site

import (
	"slices"
	"strconv"

	"mlframework/infra/clean"
	"mlframework/infra/host"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// CleanScript returns the script infra-clean for the cluster of a record. It cleans the hosts of
// workers first, also those that are listed and not in the record, which may have outputs of tasks.
// The master's host is last.
func (s *Site) CleanScript(r layout.Record) []byte {
	c := clean.Cluster{Name: r.Cluster, Root: s.folder(), Label: plan.ClusterLabel}
	hosts := slices.Clone(r.Hosts)
	selection, _ := s.Config.Selection() // no cluster comes of one that is wrong
	for _, h := range selection.Hosts {
		if !slices.ContainsFunc(hosts, func(o layout.RecordHost) bool { return o.Name == h.Name }) {
			hosts = append(hosts, layout.RecordHost{Name: h.Name, Address: h.Address.String()})
		}
	}
	configured := remote.New(remote.Options{})
	var last []clean.Host
	for _, h := range hosts {
		one := clean.Host{Name: h.Name}
		if a, err := host.Parse(h.Address); err == nil && !a.Local() {
			one.SSH = s.ssh(a, configured.HostKeyCheck(a.Name))
		}
		if h.Name == r.Master {
			last = append(last, one)
			continue
		}
		c.Hosts = append(c.Hosts, one)
	}
	c.Hosts = append(c.Hosts, last...)
	return clean.Script(c)
}

// ssh returns the arguments with which ssh reaches a host in the way that this program does. check
// is how its own configuration has the host's key checked, "" where that is not set.
func (s *Site) ssh(a host.Address, check string) (args []string) {
	t := s.Target(a)
	if t.Key != "" {
		args = append(args, "-i", t.Key)
	}
	if port := max(t.Port, a.Port); port != 0 {
		args = append(args, "-p", strconv.Itoa(port))
	}
	if t.Jump != "" {
		args = append(args, "-J", t.Jump)
	}
	option := string(s.Config.Options.HostKeyCheck)
	if option == "" && check == "" {
		option = string(remote.AcceptNew)
	}
	if option != "" {
		args = append(args, "-o", "StrictHostKeyChecking="+option)
	}
	user := a.User
	if user == "" {
		user = t.User
	}
	if user != "" {
		args = append(args, "-l", user)
	}
	return append(args, "--", a.Name)
}
