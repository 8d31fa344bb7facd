package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mlframework/infra/host"
)

// Options are a cluster's options. What they mean stands in the example.
type Options struct {
	Hosts         []host.Address
	Key           string // path that can be opened from the current folder; "" leaves it to ssh's configuration and agent
	Folder        string // on the hosts, slash-separated, relative to the home folder, at least one name deep
	Project       string // path that can be opened from the current folder; "" when that has no tasks.yml
	Master        host.Place
	Workers       []host.Place
	Name          string // of the cluster: letters, digits, dot, dash and underscore; "" when there is no project
	Image         string // "" leaves it to tasks.yml
	BrokerImage   string
	Slots         int // of each worker; 0 is one for each GPU, else one for each core
	GPUs          GPUs
	MasterAddress string // name or IP address; "" is found by trying
	Group         string // "" is nobody but the owner
	HostKeyCheck  HostKeyCheck
	ExposeMonitor bool
	BrokerPort    int           // 0 is 5671, or the next that is free
	MonitorPort   int           // 0 is 5555, or the next that is free
	DrainTimeout  time.Duration // 0 is no limit
}

// HostKeyCheck is what happens with hosts that known_hosts does not have. A changed key is refused by all but CheckNo.
type HostKeyCheck string

// The words for it are ssh_config's (StrictHostKeyChecking).
const (
	CheckYes       HostKeyCheck = "yes"
	CheckAcceptNew HostKeyCheck = "accept-new"
	CheckNo        HostKeyCheck = "no"
)

// GPUs are those of a host that its worker may use, in the words of docker's --gpus. The zero value is all of them.
type GPUs struct {
	None    bool
	Count   int      // so many, whichever are first; 0 is no limit
	Devices []string // just these, by index or UUID
}

// String is "all", "none", "2" or "device=0,2".
func (g GPUs) String() string {
	switch {
	case g.None:
		return "none"
	case g.Count > 0:
		return strconv.Itoa(g.Count)
	case len(g.Devices) > 0:
		return devicePrefix + strings.Join(g.Devices, ",")
	}
	return "all"
}

// Defaults of options. Project and Name have none that is the same everywhere.
const (
	DefaultFolder       = "mlframework"
	DefaultBrokerImage  = "rabbitmq:4.2"
	DefaultDrainTimeout = 10 * time.Minute
)

func defaults() Options {
	return Options{
		Folder: DefaultFolder, BrokerImage: DefaultBrokerImage, HostKeyCheck: CheckAcceptNew, DrainTimeout: DefaultDrainTimeout,
	}
}

// option is one row of the table: how it is written, read and written back.
type option struct {
	name    string // in config.yml, and as a long flag
	short   string // flag; "" is none
	meta    string // of its value, in a command's help; "" is a switch
	usage   string // in a command's help
	without string // what it means when nobody set it and it has no value
	list    bool
	path    func(o *Options) *string // of an option that is a path on this machine
	set     func(o *Options, words []string) []problem
	get     func(o Options) []string // as written in config.yml; none when it is as by default
}

// problem is what is wrong with a value, or with one element of it, counted from 1.
type problem struct {
	element      int
	text, remedy string
}

// one makes a setter of an option with a single value.
func one[T any](field func(*Options) *T, parse func(string) (T, problem)) func(*Options, []string) []problem {
	return func(o *Options, words []string) []problem {
		parsed, p := parse(words[0])
		if p.text != "" {
			return []problem{p}
		}
		*field(o) = parsed
		return nil
	}
}

// unless makes a getter: no words for what is as by default.
func unless[T comparable](field func(*Options) *T, text func(T) string) func(Options) []string {
	return func(o Options) []string {
		standard := defaults()
		if *field(&o) == *field(&standard) {
			return nil
		}
		return []string{text(*field(&o))}
	}
}

func same[T ~string](text T) string { return string(text) }

// ofHost turns faults of package host into ours.
func ofHost(err error) (problems []problem) {
	switch e := err.(type) {
	case nil:
	case host.Fault:
		return []problem{{e.Element, e.Problem, e.Remedy}}
	case host.Faults:
		for _, f := range e {
			problems = append(problems, problem{f.Element, f.Problem, f.Remedy})
		}
	default:
		return []problem{{text: err.Error()}}
	}
	return problems
}

// folders are what paths on this machine are relative to.
type folders struct {
	dir  string // the file's own folder
	home string // for a leading ~/; "" leaves that as it is
}

// resolve makes a path of the file one that can be opened from the current folder.
func (f folders) resolve(path string) string {
	below, isHome := strings.CutPrefix(filepath.ToSlash(path), "~/")
	switch {
	case path == "":
		return ""
	case isHome && f.home != "":
		return filepath.Join(f.home, below)
	case isHome || filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(f.dir, path)
}

// relative is the opposite of resolve. What has no relation to the file's folder is written in full.
func (f folders) relative(path string) string {
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "~/") {
		return path
	}
	dir, err1 := filepath.Abs(f.dir)
	full, err2 := filepath.Abs(path)
	if err1 != nil || err2 != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, full); err == nil {
		return rel
	}
	return full
}
