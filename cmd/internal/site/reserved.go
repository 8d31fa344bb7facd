package site

// reserved are the subcommands of run-tasks, whose names no definition of tasks.yml may have.
var reserved = []string{"ls", "show", "follow", "wait", "logs", "exec", "results", "plot", "compare", "fetch", "cancel",
	"pause", "resume", "retry", "extend", "priority", "rm", "prune", "workers", "broker",
	"test-metrics", "init", "monitor", "completion", "runner", "help"}

// Reserved returns the names that no definition of tasks.yml may have.
func Reserved() []string { return reserved }
