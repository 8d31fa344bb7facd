package mlframework_test

// layer lists what a package may import of this project. A package that is not in the table fails
// the build, and so does a line that is no longer true.
type layer struct {
	path    string
	imports []string // packages of this project
	tests   []string // further ones that only its tests import
	reason  string
}

// everything stands for all packages of this project.
const everything = "*"

// layers is the import table, from the bottom up.
var layers = []layer{
	{"sweep/fault", nil, nil, "a fault is a place, a cause and a way out, whatever file it is in"},
	{"internal/rootfile", nil, nil, "how a file is opened, whatever is in it"},
	{"internal/peercred", nil, nil, "who is at the other end of a socket, whatever is said there"},
	{"projects", []string{"internal/rootfile"}, nil,
		"sweep and infra must agree on a project's revision, so it stands beside both and on " +
			"neither"},
	{"projects/template", []string{"sweep/fault"}, []string{"sweep/definition"},
		"it is files; its tests hold them to the reader of tasks.yml"},

	{"sweep/expr", nil, nil, "a language of conditions knows neither rows nor spaces: both use it"},
	{"sweep/space/grid", nil, nil, "combinations are numbers, whatever their digits stand for"},
	{"internal/yamlfile", []string{"sweep/fault"}, nil,
		"YAML that people write, whatever it says"},
	{"sweep/space", []string{"internal/yamlfile", "sweep/expr", "sweep/fault",
		"sweep/space/grid"}, nil, "the language of parameters.yml is pure, and knows no sweep"},
	{"sweep/human", nil, nil,
		"text, numbers and commands as people read them, whatever they are of"},
	{"sweep/internal/httpserver", nil, nil,
		"connections, their end and panics, whatever is answered"},
	{"sweep/internal/rawjson", nil, nil, "JSON of a known shape, whatever it says"},
	{"sweep/metric", []string{"sweep/expr", "sweep/human", "sweep/internal/rawjson"},
		[]string{"sweep/table"}, "metrics are numbers in text, of no sweep"},
	{"sweep/table", []string{"sweep/expr", "sweep/fault", "sweep/human", "sweep/internal/rawjson",
		"sweep/metric"}, nil, "a table is made of rows, wherever they come from"},
	{"sweep/task", []string{"sweep/fault", "sweep/metric", "sweep/space"}, []string{"sweep/table"},
		"a vocabulary that everybody shares; a metric and a value of a parameter are words of it"},
	{"sweep/metric/reader", []string{"sweep/human", "sweep/metric"}, nil,
		"numbers stand in files that any program wrote: bytes in, numbers out"},
	{"sweep/metric/tail", []string{"sweep/human", "sweep/metric", "sweep/metric/reader"}, nil,
		"which files of a folder are read, whoever runs what in it"},
	{"sweep/failure", nil, nil,
		"why a program failed stands in what it printed: text from text, whoever reads it"},
	{"sweep/secret", nil, nil,
		"values on their way, whoever needs them: the less it knows, the less can show them"},
	{"sweep/definition", []string{"internal/yamlfile", "sweep/fault", "sweep/metric",
		"sweep/task"}, nil, "a definition becomes a recipe and knows nothing of its running"},
	{"sweep/argv", []string{"internal/yamlfile", "sweep/fault", "sweep/internal/rawjson",
		"sweep/space", "sweep/task"}, nil,
		"how a program takes its parameters is text from text, for the worker and for a dry run " +
			"alike"},
	{"sweep/group", []string{"sweep/expr", "sweep/fault", "sweep/human", "sweep/metric",
		"sweep/table", "sweep/task"}, nil, "means are made of rows, from any source"},
	{"sweep/analysis", nil, nil, "statistics of numbers and texts, whatever they are of"},
	{"sweep/core", []string{"nvdocker", "sweep/failure", "sweep/human", "sweep/metric", "sweep/space",
		"sweep/table", "sweep/task"}, []string{"internal/invariants", "sweep/store"},
		"the ledger is pure: no store, no queue, no clock, so that years of faults are replayed " +
			"in a test; which GPUs meet a need is decided by nvdocker alone, whose functions " +
			"but one are pure"},
	{"sweep/store", []string{"sweep/core", "sweep/fault", "sweep/human", "sweep/metric",
		"sweep/table", "sweep/task"}, []string{"sweep/space"},
		"it keeps what the core decided, and decides nothing"},

	{"internal/invariants", []string{"sweep/core", "sweep/store", "sweep/task"},
		[]string{"sweep/space"},
		"the judge of all parts reads what the store kept, and knows none of them"},

	{"sweep/queue", []string{"sweep/task"}, nil,
		"a contract names what travels, and none of its ends"},
	{"sweep/queue/rights", nil, nil,
		"who makes the broker's users and who uses them agree here: names and patterns, and " +
			"nothing else"},
	{"sweep/queue/memory", []string{"sweep/queue", "sweep/task"}, []string{"sweep/queue/queuetest"},
		"a queue carries messages and does not read them"},
	{"sweep/queue/amqp", []string{"sweep/queue", "sweep/queue/rights", "sweep/task"},
		[]string{"internal/leaktest", "sweep/metric", "sweep/queue/queuetest",
			"sweep/queue/queuetest/broker"},
		"a queue carries messages and does not read them"},
	{"scripts", nil, nil, "scripts stand beside both sides, whose tests run them"},
	{"scripts/flaky", nil, nil, "events of go test, whatever was tested"},
	{"scripts/manual", nil, nil, "what commands print with --help, whatever they do"},
	{"sweep/queue/queuetest/broker", []string{"scripts", "sweep/queue/rights"}, nil,
		"a broker is a program with an address, whoever uses it"},
	{"internal/programtest", nil, nil,
		"programs are files, whatever runs them; only tests import it"},
	{"internal/processtest", nil, nil,
		"it finds processes, whatever started them; only tests import it"},
	{"internal/leaktest", nil, nil, "it looks at a process, whatever was tested in it"},
	{"sweep/queue/queuetest", []string{"internal/leaktest", "sweep/metric", "sweep/queue",
		"sweep/task"}, nil, "the suite knows the contract, and no implementation"},

	{"sweep/worker/process", nil, []string{"internal/leaktest"},
		"processes and their trees, whatever runs in them"},
	{"sweep/worker/folder", []string{"sweep/task"}, nil,
		"folders are made of files and rules, whoever runs what in them"},
	{"sweep/worker", []string{"nvdocker", "sweep/argv", "sweep/failure", "sweep/human",
		"sweep/metric", "sweep/metric/tail", "sweep/queue", "sweep/secret", "sweep/task",
		"sweep/worker/folder", "sweep/worker/process"},
		[]string{"internal/leaktest", "sweep/queue/memory", "sweep/space"},
		"a worker knows the queue, and neither master nor store: it runs on other machines; " +
			"which GPUs an attempt gets is decided where they are"},
	{"sweep/master", []string{"sweep/api", "sweep/core", "sweep/human", "sweep/listing",
		"sweep/metric", "sweep/notify", "sweep/queue", "sweep/secret", "sweep/space", "sweep/store", "sweep/table", "sweep/task"},
		[]string{"internal/leaktest", "sweep/queue/memory"},
		"it knows the contract of the queue, not which queue it is, and no worker"},

	{"sweep/listing", []string{"sweep/analysis", "sweep/api", "sweep/core", "sweep/expr", "sweep/failure", "sweep/group",
		"sweep/metric", "sweep/space", "sweep/store", "sweep/table", "sweep/task"},
		[]string{"internal/leaktest"},
		"it reads the store for pages and exports, and changes nothing"},
	{"sweep/notify", []string{"sweep/api", "sweep/core", "sweep/human", "sweep/listing",
		"sweep/table", "sweep/task"}, []string{"internal/leaktest"},
		"what is told of a sweep, and how: who has something to tell decides that"},
	{"sweep/api/server", []string{"internal/peercred", "sweep/api", "sweep/core", "sweep/group",
		"sweep/human", "sweep/internal/httpserver", "sweep/master", "sweep/metric", "sweep/listing",
		"sweep/queue", "sweep/store", "sweep/table", "sweep/task"},
		[]string{"internal/leaktest", "sweep/queue/memory", "sweep/secret", "sweep/space"},
		"it carries what a master can do to those who ask for it"},
	{"sweep/api", []string{"internal/peercred", "sweep/analysis", "sweep/core", "sweep/failure", "sweep/group",
		"sweep/metric", "sweep/queue", "sweep/secret", "sweep/space", "sweep/table", "sweep/task"},
		[]string{"internal/leaktest", "sweep/queue/memory"},
		"the words of the API and a client: who asks links neither the master nor its store"},

	{"nvdocker", nil, nil,
		"what is known of GPUs needs neither side, and other programs may use it"},
	{"nvdocker/install", []string{"nvdocker"}, nil, "what a host lacks is decided without one"},
	{"infra/docker", nil, []string{"internal/leaktest"},
		"an engine and its host: what is wanted of them others decide"},

	{"infra/broker", []string{"sweep/queue/rights"}, nil, "what RabbitMQ is started with is data"},
	{"infra/layout", []string{"infra/host"}, nil,
		"what lies where on a host is text, and every release has to find it"},
	{"infra/agent", []string{"infra/layout"}, nil,
		"an agent is asked over a connection, whoever opened it: who asks links no handler"},
	{"infra/engine", nil, nil,
		"who answers for Docker on a machine is known before anything is asked"},
	{"infra/agent/server", []string{"infra/agent", "infra/engine", "infra/filesync/server",
		"infra/layout", "internal/peercred", "internal/rootfile"},
		[]string{"infra/filesync", "projects"},
		"what is done on a host is done by who is told, and decided elsewhere"},
	{"infra/probe", []string{"infra/layout", "nvdocker"}, nil,
		"a host's facts are asked through any shell"},
	{"infra/clean", []string{"infra/layout"}, nil, "the script that removes a cluster is text"},
	{"infra/plan", []string{"config", "infra/broker", "infra/docker", "infra/host", "infra/layout",
		"infra/probe", "nvdocker"}, nil,
		"what is done to hosts is decided without one"},
	{"infra/host", nil, nil, "addresses and places are text, whoever connects to them"},
	{"config", []string{"infra/host", "internal/yamlfile", "sweep/fault"}, nil,
		"it belongs to neither side: the words for hosts are infra's, and those for what is " +
			"wrong in a file are the sweep side's"},

	{"cmd/internal/cli", []string{"config", "internal/yamlfile", "sweep/fault", "sweep/human",
		"sweep/worker/process"},
		nil, "what commands share; it stands below them all"},
	{"infra/remote", nil, []string{"internal/leaktest"},
		"a host is a connection with commands on it, whatever they are for"},

	{"sweep/monitor", []string{"sweep/analysis", "sweep/api", "sweep/core", "sweep/expr", "sweep/failure",
		"sweep/group", "sweep/human", "sweep/internal/httpserver", "sweep/metric",
		"sweep/table", "sweep/task"},
		[]string{"sweep/api/server", "internal/leaktest", "sweep/master", "sweep/queue",
			"sweep/queue/memory", "sweep/space", "sweep/store"},
		"it asks the API and shows what it is told: no store, no queue, no master"},
	{"infra/filesync", []string{"infra/agent", "projects"},
		[]string{"infra/agent/server", "infra/filesync/server", "infra/layout"},
		"it carries files over a connection, whoever opened it: who brings and fetches links no " +
			"handler"},
	{"infra/filesync/server", []string{"infra/agent", "infra/filesync", "infra/layout",
		"internal/rootfile", "projects"}, nil,
		"the host's side of the same"},
	{"infra", []string{"infra/agent", "infra/broker", "infra/docker", "infra/engine",
		"infra/filesync", "infra/layout", "infra/plan", "infra/probe", "infra/remote", "nvdocker",
		"projects"},
		[]string{"config", "infra/agent/server", "infra/host"},
		"it puts the parts of its side together, and knows no sweep"},

	{"infra/lab", []string{"scripts"}, nil,
		"hosts are machines with addresses, whatever is tested on them; only tests import it"},

	{"cmd/internal/site", []string{"cmd/internal/cli", "config", "infra", "infra/agent",
		"infra/clean",
		"infra/filesync", "infra/host", "infra/layout", "infra/plan", "infra/remote", "nvdocker",
		"projects", "sweep/api", "sweep/core", "sweep/definition", "sweep/human", "sweep/queue",
		"sweep/table", "sweep/task"}, nil,
		"here both sides meet, for the commands that are about a cluster"},
	{"cmd/run-tasks/display", []string{"cmd/internal/cli", "sweep/api", "sweep/core", "sweep/human",
		"sweep/metric", "sweep/table", "sweep/task"}, nil,
		"it shows what it is given, and asks nothing"},
	{"cmd/run-tasks/guess", []string{"internal/yamlfile"},
		[]string{"projects/template", "sweep/definition", "sweep/space"},
		"scripts in, text of files out; its tests hold them to the readers of these files"},
	{"cmd/run-tasks/local", []string{"cmd/internal/cli", "projects", "sweep/api",
		"sweep/api/server", "sweep/core", "sweep/master", "sweep/queue/memory", "sweep/store",
		"sweep/task", "sweep/worker", "sweep/worker/process"}, nil,
		"master, queue and worker in one process; what it is asked comes through the API"},
	{"cmd/run-tasks/project", []string{"cmd/internal/cli", "cmd/internal/site",
		"cmd/run-tasks/guess", "projects",
		"sweep/api", "sweep/argv", "sweep/core", "sweep/definition", "sweep/fault", "sweep/human",
		"sweep/metric", "sweep/space", "sweep/task", "sweep/worker", "sweep/worker/folder"}, nil,
		"it reads and decides; who submits asks it"},
	{"cmd/check-status", []string{everything}, nil, "a command puts the parts together"},
	{"cmd/update-files", []string{everything}, nil, "a command puts the parts together"},
	{"cmd/infrainit", []string{everything}, nil, "a command puts the parts together"},
	{"cmd/nvdocker-install", []string{everything}, nil, "a command puts the parts together"},
	{"cmd/sweepd", []string{everything}, nil, "a command puts the parts together"},
	{"cmd/run-tasks", []string{everything}, nil, "a command puts the parts together"},
}

// apart are trees that must not import each other, whatever the table says.
var apart = []struct{ importer, imported, reason string }{
	{"infra", "sweep",
		"infra brings up what it does not know; the two meet in cmd, which hands infra the " +
			"functions it needs"},
	{"sweep", "infra", "a sweep runs where no cluster is; the two meet in cmd"},
	{"projects", "infra", "a project is files, on whatever machine"},
	{"infra", "cmd", "commands are the top"},
	{"sweep", "cmd", "commands are the top"},
	{"projects", "cmd", "commands are the top"},
	{"config", "cmd", "commands are the top"},
	{"nvdocker", "cmd", "commands are the top"},
}

// together are the exceptions to apart: packages that may be imported everywhere, as they import
// nothing of this project.
var together = []struct{ path, reason string }{
	{"sweep/queue/rights",
		"infra makes the users of the broker that the queue of the sweep side needs"},
}

// owner lists who may import a dependency: packages, or whole trees where a path ends with "/...".
// A module without an owner may not be imported.
type owner struct {
	path     string // a module, or a package of the standard library
	packages []string
	tests    bool // every test may import it, too
	reason   string
}

var owners = []owner{
	{"C", nil, false, "the binaries are static: no cgo anywhere"},
	{"database/sql", []string{"sweep/store"}, false, "only the store knows SQL"},
	{"modernc.org/sqlite", []string{"sweep/store"}, false, "only the store knows SQL"},
	{"gopkg.in/yaml.v3", []string{"cmd/run-tasks/guess", "config", "sweep/argv", "sweep/definition",
		"internal/yamlfile", "sweep/space"}, true,
		"one owner for each file that people write"},
	{"github.com/pelletier/go-toml/v2", []string{"sweep/argv"}, false,
		"only what puts parameters into files reads TOML"},
	{"github.com/docker/docker", []string{"infra/docker"}, false,
		"upstream has moved: the move is a change to one package"},
	{"github.com/docker/go-connections", []string{"infra/docker"}, false,
		"upstream has moved: the move is a change to one package"},
	{"github.com/containerd/errdefs", []string{"infra/docker"}, false,
		"upstream has moved: the move is a change to one package"},
	{"golang.org/x/crypto/x509roots/fallback", []string{"cmd/sweepd"}, false,
		"a program decides whom it trusts where its machine says nothing"},
	{"golang.org/x/crypto", []string{"infra/remote"}, false,
		"one place opens connections and checks host keys"},
	{"github.com/skeema/knownhosts", []string{"infra/remote"}, false,
		"one place opens connections and checks host keys"},
	{"github.com/kevinburke/ssh_config", []string{"infra/remote"}, false,
		"one place finds out what a host's name means"},
	{"github.com/rabbitmq/amqp091-go", []string{"sweep/queue/amqp"}, true,
		"one place knows the broker's protocol, and tests break in with it"},
	{"github.com/prometheus/client_golang", []string{"sweep/api/server", "sweep/master"}, false,
		"the master counts, and the API tells that and how all stands"},
	{"github.com/prometheus/client_model", nil, true, "for tests: what is told, as it is read"},
	{"github.com/prometheus/common", []string{"sweep/queue/amqp"}, true,
		"the broker tells of its queues in that form"},
	{"github.com/urfave/cli/v2", []string{"cmd/..."}, false, "only commands have flags"},
	{"github.com/jedib0t/go-pretty/v6", []string{"cmd/...", "sweep/table"}, false,
		"one look for all tables"},
	{"golang.org/x/term", []string{"cmd/..."}, false, "only commands have a terminal"},
	{"golang.org/x/sync", []string{"cmd/run-tasks", "infra/filesync/server", "sweep/monitor"}, false,
		"several sweeps are followed, and several files written, at once; one question for all " +
			"readers"},
	{"golang.org/x/sys", []string{"infra/agent/server", "infra/filesync/...", "sweep/store",
		"sweep/worker/..."}, true, "calls of the system: locks and disks, processes"},
	{"github.com/google/go-cmp", []string{"internal/programtest", "sweep/queue/queuetest"}, true,
		"for tests"},
	{"go.uber.org/goleak", []string{"internal/leaktest", "sweep/queue/queuetest"}, true,
		"for tests"},
	{"github.com/rogpeppe/go-internal", nil, true, "for tests"},
	{"github.com/chromedp/chromedp", nil, true, "for tests"},
	{"github.com/chromedp/cdproto", nil, true, "for tests"},
}

// vague names say nothing of what a package owns.
var vague = []string{"util", "utils", "common", "helper", "helpers", "type", "types", "model",
	"models", "base", "misc", "shared", "lib"}

// excused packages may have a name that the standard library has.
var excused = map[string]string{
	"projects/template": "it is the project that `run-tasks init` writes, beside the other samples",
}
