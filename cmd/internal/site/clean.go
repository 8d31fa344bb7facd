package site

import (
	"strconv"

	"mlframework/infra/clean"
	"mlframework/infra/host"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// ConfigFile returns the file where options are saved.
func (s *Site) ConfigFile() string { return s.configFile }

// CleanScript returns the script infra-clean for the cluster of a record. It cleans the hosts of
// workers first, and the master's host last.
func (s *Site) CleanScript(r layout.Record) []byte {
	c := clean.Cluster{Name: r.Cluster, Root: s.folder(), Label: plan.ClusterLabel}
	var last []clean.Host
	for _, h := range r.Hosts {
		one := clean.Host{Name: h.Name}
		if a, err := host.Parse(h.Address); err == nil && !a.Local() {
			one.SSH = s.ssh(a)
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

// ssh returns the arguments with which ssh reaches a host in the way that this program does.
func (s *Site) ssh(a host.Address) (args []string) {
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
	if s.Config.Options.HostKeyCheck != "" && s.Config.Options.HostKeyCheck != "yes" {
		args = append(args, "-o", "StrictHostKeyChecking="+string(s.Config.Options.HostKeyCheck))
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
