package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"mlframework/infra/host"
)

// table is every option, in the order of the example.
var table = []option{
	{
		name: "hosts", short: "a", meta: "HOST,...", usage: "remote hosts in order: `HOST,...`, each [user@]host[:port]", without: "none", list: true,
		set: setHosts, get: func(o Options) []string { return texts(o.Hosts) },
	},
	{
		name: "key", short: "i", meta: "FILE", usage: "private key: `FILE`, tried before all others", without: "as ssh is configured",
		path: keyOf, set: one(keyOf, parsePath), get: unless(keyOf, same),
	},
	{
		name: "folder", short: "r", meta: "PATH", usage: "folder on the hosts: `PATH`, relative to the home folder (default: " + DefaultFolder + ")", without: DefaultFolder,
		set: one(folderOf, parseFolder), get: unless(folderOf, same),
	},
	{
		name: "project", short: "d", meta: "FOLDER", usage: "the project's `FOLDER` (default: the current one, when it has a tasks.yml)", without: "none",
		path: projectOf, set: one(projectOf, parsePath), get: unless(projectOf, same),
	},
	{
		name: "master", short: "m", meta: "HOST", usage: "where master, broker and monitor run: `HOST`, local or a number of -a, from 1", without: "joins the cluster that runs",
		set: setMaster, get: unless(masterOf, host.Place.String),
	},
	{
		name: "workers", short: "w", meta: "HOST,...", usage: "where workers run: `HOST,...`, each local, a number of -a, or a range such as 2-5", without: "none", list: true,
		set: setWorkers, get: func(o Options) []string { return texts(o.Workers) },
	},
	{
		name: "name", meta: "NAME", usage: "the cluster's `NAME` (default: user and project)", without: "none",
		set: one(nameOf, parseName), get: unless(nameOf, same),
	},
	{
		name: "image", meta: "IMAGE", usage: "`IMAGE` of the workers (default: as in tasks.yml)", without: "as in tasks.yml",
		set: one(imageOf, parseImage), get: unless(imageOf, same),
	},
	{
		name: "broker-image", meta: "IMAGE", usage: "`IMAGE` of the broker (default: " + DefaultBrokerImage + ")", without: DefaultBrokerImage,
		set: one(brokerImageOf, parseImage), get: unless(brokerImageOf, same),
	},
	{
		name: "slots", meta: "N", usage: "run `N` tasks at a time on each worker (default: one on each core)", without: "one on each core",
		set: one(slotsOf, parseSlots), get: unless(slotsOf, strconv.Itoa),
	},
	{
		name: "gpus", meta: "GPUS", usage: "`GPUS` of each host: all, none, a number, or device=0,2; not used yet (default: all)", without: "all",
		set: one(gpusOf, parseGPUs), get: func(o Options) []string {
			if text := o.GPUs.String(); text != "all" {
				return []string{text}
			}
			return nil
		},
	},
	{
		name: "master-address", meta: "ADDRESS", usage: "where workers reach the master: `ADDRESS` (default: found by trying)", without: "found by trying",
		set: one(masterAddressOf, parseMasterAddress), get: unless(masterAddressOf, same),
	},
	{
		name: "group", meta: "GROUP", usage: "`GROUP` of the master's host that may use the cluster too (default: nobody)", without: "nobody else",
		set: one(groupOf, parseGroup), get: unless(groupOf, same),
	},
	{
		name: "host-key-check", meta: "HOW", usage: "`HOW` keys of unknown hosts are met: yes, accept-new or no (default: accept-new)", without: string(CheckAcceptNew),
		set: one(hostKeyCheckOf, parseHostKeyCheck), get: unless(hostKeyCheckOf, same),
	},
	{
		name: "expose-monitor", usage: "let the monitor be reached from other machines, with TLS and its token", without: "false",
		set: one(exposeMonitorOf, parseSwitch), get: unless(exposeMonitorOf, strconv.FormatBool),
	},
	{
		name: "broker-port", meta: "PORT", usage: "`PORT` of the broker (default: 5671, or the next that is free)", without: "5671, or the next that is free",
		set: one(brokerPortOf, parsePort), get: unless(brokerPortOf, strconv.Itoa),
	},
	{
		name: "monitor-port", meta: "PORT", usage: "`PORT` of the monitor (default: 5555, or the next that is free)", without: "5555, or the next that is free",
		set: one(monitorPortOf, parsePort), get: unless(monitorPortOf, strconv.Itoa),
	},
	{
		name: "drain-timeout", meta: "TIME", usage: "for how much `TIME` a worker that is replaced or removed may finish what it runs; 0: no limit (default: 10m)", without: "10m",
		set: one(drainTimeoutOf, parseDuration), get: unless(drainTimeoutOf, duration),
	},
}

func keyOf(o *Options) *string                 { return &o.Key }
func folderOf(o *Options) *string              { return &o.Folder }
func projectOf(o *Options) *string             { return &o.Project }
func masterOf(o *Options) *host.Place          { return &o.Master }
func nameOf(o *Options) *string                { return &o.Name }
func imageOf(o *Options) *string               { return &o.Image }
func brokerImageOf(o *Options) *string         { return &o.BrokerImage }
func slotsOf(o *Options) *int                  { return &o.Slots }
func gpusOf(o *Options) *GPUs                  { return &o.GPUs }
func masterAddressOf(o *Options) *string       { return &o.MasterAddress }
func groupOf(o *Options) *string               { return &o.Group }
func hostKeyCheckOf(o *Options) *HostKeyCheck  { return &o.HostKeyCheck }
func exposeMonitorOf(o *Options) *bool         { return &o.ExposeMonitor }
func brokerPortOf(o *Options) *int             { return &o.BrokerPort }
func monitorPortOf(o *Options) *int            { return &o.MonitorPort }
func drainTimeoutOf(o *Options) *time.Duration { return &o.DrainTimeout }

func setHosts(o *Options, words []string) []problem {
	list, err := host.ParseList(words)
	o.Hosts = list
	return ofHost(err)
}

func setMaster(o *Options, words []string) []problem {
	place, err := host.ParsePlace(words[0])
	o.Master = place
	return ofHost(err)
}

func setWorkers(o *Options, words []string) []problem {
	list, err := host.ParsePlaces(words)
	o.Workers = list
	return ofHost(err)
}

func texts[T fmt.Stringer](list []T) []string {
	var words []string
	for _, e := range list {
		words = append(words, e.String())
	}
	return words
}

func join(words []string) string { return strings.Join(words, ", ") }

// FlagOf is an option as a command offers it.
type FlagOf struct {
	Name   string // in config.yml, and as a long flag
	Short  string // "" is none
	Usage  string // with the name of the value in backquotes
	Switch bool   // takes no value
}

// Flags are the options in the order of the example, for a command to offer.
func Flags() []FlagOf {
	list := make([]FlagOf, len(table))
	for i, o := range table {
		list[i] = FlagOf{o.name, o.short, o.usage, o.meta == ""}
	}
	return list
}

// Variable is the name of the environment variable of an option: MLFRAMEWORK_BROKER_IMAGE. The master's is
// MLFRAMEWORK_MASTER_HOST, as MLFRAMEWORK_MASTER names a master's socket to run-tasks.
func Variable(option string) string {
	if option == "master" {
		option = "master-host"
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(option, "-", "_"))
}

const variablePrefix = "MLFRAMEWORK_"
