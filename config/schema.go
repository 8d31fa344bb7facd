package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"mlframework/infra/host"
)

// Options are the options of a cluster, and the schema of cluster.yml, of the flags and of the
// variables of the environment. docs/config.md explains each key; a test holds the two together.
// The tags:
//
//	yaml     key, long flag, and with the prefix MLFRAMEWORK_ the variable
//	is       which texts are valid: a key of kinds
//	number   which whole numbers are, and of what
//	short    short flag
//	default  value of an option that is not set
//	unset    what it means that an option without a default is not set
//	help     for --help; the first word in capitals stands for the value
type Options struct {
	Hosts []host.Address `yaml:"hosts" is:"hosts" short:"a" unset:"none" help:"remote hosts: HOST,..., each [user@]host[:port]"`
	// Key and Project are paths that can be opened from the current folder.
	Key string `yaml:"key" is:"path" short:"i" unset:"from the SSH configuration" help:"private key FILE to try first"`
	// Folder is slash-separated and at least one name deep.
	Folder  string          `yaml:"folder" is:"folder" short:"r" default:"mlframework" help:"folder on the hosts: PATH, relative to the home folder"`
	Project string          `yaml:"project" is:"path" short:"d" unset:"the current one, if it has a tasks.yml" help:"project FOLDER"`
	Master  host.Position   `yaml:"master" is:"position" short:"m" unset:"join the running cluster" help:"where master, broker and monitor run: HOST of -a, its number from 1, or local"`
	Workers []host.Position `yaml:"workers" is:"positions" short:"w" unset:"none" help:"where workers run: HOST,..., each a host of -a, its number, local, or a range such as 2-5"`
	// Name is "" when there is no project either.
	Name        string `yaml:"name" is:"name" unset:"user and project" help:"NAME of the cluster"`
	Image       string `yaml:"image" is:"image" unset:"as in tasks.yml" help:"container IMAGE of the workers"`
	BrokerImage string `yaml:"broker-image" is:"image" default:"rabbitmq:4.2" help:"container IMAGE of the broker"`
	// Slots are those of each worker.
	Slots         int          `yaml:"slots" number:"1-4096 slots" unset:"one per core" help:"run up to N tasks at a time on each worker; by default, tasks with GPUs need no slot"`
	GPUs          GPUs         `yaml:"gpus" is:"gpus" unset:"all" help:"GPUS of each host that its worker can use: all, none, or numbers and UUIDs, such as 0,2"`
	GPUBusy       string       `yaml:"gpu-busy" is:"gpu-busy" unset:"memory" help:"WHAT makes a GPU unavailable to tasks: memory used by others, or their locks (memory); only their locks (mine); nothing (never)"`
	GPUBusyAbove  string       `yaml:"gpu-busy-above" is:"gpu-memory" unset:"1g" help:"with gpu-busy memory: others may use up to SIZE of a GPU's memory before it becomes unavailable"`
	MasterAddress string       `yaml:"master-address" is:"address" unset:"detected automatically" help:"ADDRESS at which workers reach the master"`
	HostKeyCheck  HostKeyCheck `yaml:"host-key-check" is:"host-key-check" unset:"from the SSH configuration, else accept-new" help:"POLICY for unknown host keys: yes, accept-new or no"`
	ExposeMonitor bool         `yaml:"expose-monitor" is:"switch" unset:"false" help:"make the monitor reachable from other machines, with TLS and a token"`
	BrokerPort    int          `yaml:"broker-port" number:"1-65535 a port" unset:"5671, or the next free port" help:"PORT of the broker"`
	MonitorPort   int          `yaml:"monitor-port" number:"1-65535 a port" unset:"5555, or the next free port" help:"PORT of the monitor"`
	// DrainTimeout is 0 for no limit.
	DrainTimeout time.Duration `yaml:"drain-timeout" is:"duration" default:"10m" help:"wait up to TIME for a replaced or removed worker to finish its tasks; 0: no limit"`
	Lease        time.Duration `yaml:"lease" is:"lease" default:"2m" help:"reschedule a host's tasks after TIME without a heartbeat"`
}

// HostOptions are those of a single host, below overrides. Keys with the tag ssh say how it is
// reached, and mean nothing for this machine.
type HostOptions struct {
	User string `yaml:"user" is:"user" ssh:"yes"`
	Port int    `yaml:"port" number:"1-65535 a port" ssh:"yes"`
	Key  string `yaml:"key" is:"path" ssh:"yes"`
	// the first one first; none: from the SSH configuration
	Jump         []host.Address `yaml:"jump" is:"hosts" ssh:"yes"`
	Slots        int            `yaml:"slots" number:"1-4096 slots"`
	GPUs         GPUs           `yaml:"gpus" is:"gpus"`
	GPUBusy      string         `yaml:"gpu-busy" is:"gpu-busy"`
	GPUBusyAbove string         `yaml:"gpu-busy-above" is:"gpu-memory"`
	Image        string         `yaml:"image" is:"image"`
	Labels       []Pair         `yaml:"labels" is:"labels"`
	// Environment is that of the worker, and so of every attempt there.
	Environment []Pair `yaml:"environment" is:"variables"`
	// beside those of tasks.yml, or in their place
	Volumes []string `yaml:"volumes" is:"volumes"`
	Limits  Limits   `yaml:"limits"`
}

// Pair is a name with its value, in file order. The value is text as the file has it: 0.10 stays
// 0.10.
type Pair struct{ Name, Value string }

// Limits are those of a host's worker, for all of its slots together; 0 is none of its own.
type Limits struct {
	Memory       int64 `yaml:"memory" is:"memory"` // bytes
	SharedMemory int64 `yaml:"shm" is:"shm"`       // size of /dev/shm in bytes
	Processes    int   `yaml:"pids" number:"1-4194304 processes"`
}

// HostKeyCheck is what happens with hosts that known_hosts does not have, in the words of
// ssh_config (StrictHostKeyChecking). A changed key is refused by all but CheckNo. "" is what ssh's
// own configuration says.
type HostKeyCheck string

// The policies.
const (
	CheckYes       HostKeyCheck = "yes"
	CheckAcceptNew HostKeyCheck = "accept-new"
	CheckNo        HostKeyCheck = "no"
)

// GPUs are those of a host that its worker may use. The zero value is all of them.
type GPUs struct {
	None    bool
	Devices []string // just these, by index or UUID
}

// String is "all", "none" or "0,2".
func (g GPUs) String() string { return strings.Join(g.words(), ",") }

// words are those of cluster.yml.
func (g GPUs) words() []string {
	switch {
	case g.None:
		return []string{noGPUs}
	case len(g.Devices) > 0:
		return g.Devices
	}
	return []string{allGPUs}
}

// option is a field of one of the structs above.
type option struct {
	name, short, help string
	standard          string // default
	unset             string
	ssh, path, toggle bool // is about ssh, a path on this machine, true or false
	positions         bool // names hosts
	kind              kind
	field             int
}

// schema returns the options of a struct, in its order.
func schema[T any]() (list []option) {
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		o := option{
			name: tag.Get("yaml"), short: tag.Get("short"), help: tag.Get("help"),
			standard: tag.Get("default"), unset: tag.Get("unset"),
			ssh: tag.Get("ssh") != "", path: tag.Get("is") == "path",
			toggle: tag.Get("is") == "switch", kind: kinds[tag.Get("is")], field: i,
			positions: strings.HasPrefix(tag.Get("is"), "position"),
		}
		if bounds, of, is := strings.Cut(tag.Get("number"), " "); is {
			least, most, _ := strings.Cut(bounds, "-")
			o.kind = kind{parse: word(number(of, least, most))}
		}
		list = append(list, o)
	}
	return list
}

var options, hostOptions, limitOptions = schema[Options](), schema[HostOptions](), schema[Limits]()

func names(list []option) (names []string) {
	for _, o := range list {
		names = append(names, o.name)
	}
	return names
}

// named returns the option of that name, or nil.
func named(list []option, name string) *option {
	if i := slices.IndexFunc(list, func(o option) bool { return o.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// set parses the words into the option's field of a struct. Elements of a list that are right are
// there beside problems with others.
func (o option) set(in reflect.Value, words []string) []problem {
	parsed, problems := o.kind.parse(words)
	if parsed != nil {
		in.Field(o.field).Set(reflect.ValueOf(parsed))
	}
	return problems
}

// words returns an option's value as cluster.yml has it; none when it is the default.
func (o option) words(of Options) (words []string) {
	v := reflect.ValueOf(of).Field(o.field)
	if reflect.DeepEqual(v.Interface(), reflect.ValueOf(defaults).Field(o.field).Interface()) {
		return nil
	}
	if g, is := v.Interface().(GPUs); is {
		return g.words()
	}
	if v.Kind() != reflect.Slice {
		return []string{textOf(v.Interface())}
	}
	for i := range v.Len() {
		words = append(words, textOf(v.Index(i).Interface()))
	}
	return words
}

func textOf(value any) string {
	if d, ok := value.(time.Duration); ok {
		return duration(d)
	}
	return fmt.Sprint(value)
}

// defaults are the options when none is set. Project and Name have defaults that depend on the user
// and the current folder: see computed.
var defaults = func() (o Options) {
	for _, opt := range options {
		if opt.standard != "" {
			opt.set(reflect.ValueOf(&o).Elem(), []string{opt.standard})
		}
	}
	return o
}()

// FlagOf is an option as a command offers it.
type FlagOf struct {
	Name    string // in cluster.yml, and as a long flag
	Short   string // "" is none
	Usage   string // with the name of the value in backquotes
	Default string // what it is when it is not set, in words
	Switch  bool   // takes no value
}

var placeholder = regexp.MustCompile(`\b[A-Z]+\b(,\.\.\.)?`)

// Flags returns the options as flags.
func Flags() []FlagOf {
	list := make([]FlagOf, len(options))
	for i, o := range options {
		usage := o.help
		if !o.toggle {
			at := placeholder.FindStringIndex(usage)
			usage = usage[:at[0]] + "`" + usage[at[0]:at[1]] + "`" + usage[at[1]:]
		}
		list[i] = FlagOf{o.name, o.short, usage, cmp.Or(o.standard, o.unset), o.toggle}
	}
	return list
}

// flag is the option as people write it: -a, --image.
func (o option) flag() string {
	if o.short != "" {
		return "-" + o.short
	}
	return "--" + o.name
}

const variablePrefix = "MLFRAMEWORK_"

// Variable returns the name of the environment variable of an option: MLFRAMEWORK_BROKER_IMAGE. The
// master's is MLFRAMEWORK_MASTER_HOST, as MLFRAMEWORK_MASTER names a master's socket to run-tasks.
func Variable(option string) string {
	if option == "master" {
		option = "master-host"
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(option, "-", "_"))
}
