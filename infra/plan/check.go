package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
)

// LeastDisk is what a host needs, in bytes: the images are not counted, as nobody knows their size
// before they are there.
const LeastDisk = 500 << 20

// MaxClockSkew is from which difference of clocks on people are warned, and ClockRemedy what they
// can do. Certificates are valid from a day before they were made.
const (
	MaxClockSkew = 5 * time.Second
	ClockRemedy  = "start an NTP client there; sweeps go on meanwhile"
)

// Problem is what is wrong with a host, or worth knowing about it.
type Problem struct {
	Host    string
	What    string // "its disk is full: 12 MB are free in /home/anna"
	Remedy  string
	Warning bool
	// Unreached says that nothing is known of the host, as it could not be reached.
	Unreached bool
	// Full says that its disk is full: the host of a worker is left out, and the others go on.
	Full bool
}

func (p Problem) Error() string {
	text := p.Host + ": " + p.What
	if p.Remedy != "" {
		text += "\n    " + p.Remedy
	}
	return text
}

// Problems are those of all hosts, by host. As an error it prints a line for each, and below it the
// remedy; problems with the same remedy stand together, above one remedy that names their hosts.
type Problems []Problem

func (p Problems) Error() string {
	var lines []string
	told := map[string]bool{}
	for i, one := range p {
		if one.Remedy == "" {
			lines = append(lines, one.Error())
			continue
		}
		if told[one.Remedy] {
			continue
		}
		told[one.Remedy] = true
		var hosts []string
		for _, other := range p[i:] {
			if other.Remedy == one.Remedy {
				lines = append(lines, other.Host+": "+other.What)
				hosts = append(hosts, other.Host)
			}
		}
		remedy := one.Remedy
		if hosts = slices.Compact(hosts); len(hosts) > 1 {
			remedy = strings.Join(hosts, ", ") + ": " + remedy
		}
		lines = append(lines, "    "+remedy)
	}
	return strings.Join(lines, "\n")
}

// Of reports whether a host has problems.
func (p Problems) Of(host string) bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Host == host })
}

// Faults are those that are no warnings.
func (p Problems) Faults() Problems {
	return slices.DeleteFunc(slices.Clone(p), func(one Problem) bool { return one.Warning })
}

// Check finds what is wrong with the hosts that are wanted, before anything is changed. A host that
// is not in found was not reached, and its problem is known.
func Check(c Cluster, found map[string]Found) Problems {
	var all Problems
	for _, h := range c.Hosts {
		f, reached := found[h.Name]
		if !reached {
			continue
		}
		p := problems{host: h.Name}
		p.system(c, f)
		p.folder(c, f)
		p.owner(c, f)
		if h.Work != nil {
			p.gpus(c, h, f)
			p.volumes(c, h, f)
		}
		if h.Name == c.Master {
			p.ports(c, f)
			p.release(c, f)
		}
		all = append(all, p.all...)
	}
	all = append(all, sameMachine(c, found)...)
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(a.Host, b.Host) })
	return all
}

type problems struct {
	host string
	all  Problems
}

func (p *problems) fault(remedy, format string, args ...any) {
	p.all = append(p.all, Problem{Host: p.host, What: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (p *problems) warn(remedy, format string, args ...any) {
	p.all = append(p.all, Problem{Host: p.host, What: fmt.Sprintf(format, args...), Remedy: remedy,
		Warning: true})
}

func (p *problems) system(c Cluster, f Found) {
	switch _, built := c.Sweepd[f.Arch]; {
	case f.OS != "linux":
		p.fault("hosts are Linux machines", "its system is %s", f.OS)
		return
	case !built:
		have := slices.Sorted(maps.Keys(c.Sweepd))
		p.fault("run scripts/install where mlframework was built, which makes it for amd64 and "+
			"arm64",
			"there is no sweepd for its architecture, %s (there is: %s)", f.Arch,
			cmp.Or(strings.Join(have, ", "), "none"))
	}
	if len(f.MissingTools) > 0 {
		p.fault("install it; Debian, Ubuntu: apt-get install coreutils", "it lacks %s",
			strings.Join(f.MissingTools, ", "))
	}
	if f.ClockSkew.Abs() > MaxClockSkew {
		p.warn(ClockRemedy,
			"its clock differs from this machine's by %v", f.ClockSkew)
	}
	if f.Engine.Rootless() {
		p.fault("name a user of the system's Docker",
			"its Docker is rootless, in which the user's files would belong to somebody else")
	}
}

func (p *problems) folder(c Cluster, f Found) {
	switch {
	case f.Unwritable != "":
		p.fault("name another folder with -r, or make this one writable",
			"%s cannot be made: %s may not write in %s", f.Root, f.User, f.Unwritable)
	case f.Marker != nil && f.Marker.Cluster != c.Name:
		p.fault("name another folder with -r, or another cluster with --name",
			"%s belongs to %s's cluster %s", f.Root, f.Marker.Owner, f.Marker.Cluster)
	case f.Marker == nil && f.RootNotEmpty:
		p.fault("name another folder with -r", "%s is not empty, and is no cluster's", f.Root)
	case f.NoExec:
		p.fault("name a folder on another disk with -r",
			"no program may be run from %s: its disk is mounted with noexec", f.Root)
	}
	if f.Free < LeastDisk {
		p.fault("free some space", "its disk is full: %d MB are free for %s, of at least %d",
			f.Free>>20, f.Root, LeastDisk>>20)
		p.all[len(p.all)-1].Full = true
	}
}

// owner finds containers of the same name that are another account's: those of the cluster mount
// something of its folder.
func (p *problems) owner(c Cluster, f Found) {
	for _, o := range f.Containers {
		ours := slices.ContainsFunc(o.Mounts, func(m docker.Mount) bool {
			return strings.HasPrefix(m.Bind, f.Root+"/")
		})
		if o.Labels[ClusterLabel] == c.Name && o.Labels[RoleLabel] != "" && !ours {
			p.fault("choose another name with --name; or log in as the user who set it up (-a "+
				"USER@HOST), with its -r", "the cluster %s there is not in %s: it belongs to %s",
				c.Name, f.Root, o.Labels[OwnerLabel])
			return
		}
	}
}

func (p *problems) ports(c Cluster, f Found) {
	for _, port := range []struct {
		wanted int
		role   string
		option string
	}{{c.BrokerPort, Broker, "--broker-port"}, {c.MonitorPort, Monitor, "--monitor-port"}} {
		if port.wanted == 0 || c.portOf(f, port.role) == port.wanted ||
			!slices.Contains(f.Listening, port.wanted) {
			continue
		}
		p.fault("choose another with "+port.option+", or leave that out",
			"port %d of the %s is taken%s", port.wanted, port.role, f.holder(port.wanted))
	}
}

// release finds that workers are to join a cluster whose broker another release has set up: it
// would not let them do what they do.
func (p *problems) release(c Cluster, f Found) {
	if o, there := f.role(c.Name, Broker); c.Adds && there &&
		o.Labels[ConfigLabel] != broker.Version() {
		p.fault("call infrainit -f of this release where the cluster was brought up, which "+
			"updates it; then join", "its cluster %s was set up by another release", c.Name)
	}
}

// holder names who has a port, if that is known.
func (f Found) holder(port int) string {
	for _, o := range slices.Concat(f.Containers, f.Others) {
		if !slices.ContainsFunc(o.Ports, func(p docker.Port) bool { return p.Port == port }) {
			continue
		}
		if o.Labels[ClusterLabel] != "" {
			return fmt.Sprintf(" by %s's cluster %s", o.Labels[OwnerLabel], o.Labels[ClusterLabel])
		}
		return " by the container " + o.Name
	}
	if who := f.PortOwners[port]; who != "" {
		return " by " + who
	}
	return ""
}
