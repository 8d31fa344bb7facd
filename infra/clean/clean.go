// Package clean writes infra-clean: the script that removes a cluster from its hosts again, with
// nothing but ssh, and docker for this machine. Whoever wonders what it does can read it.
//
// infra and the commands may import it. It is pure.
package clean

import (
	_ "embed"
	"regexp"
	"strings"
	"text/template"

	"mlframework/infra/layout"
)

// Cluster is what the script is for.
type Cluster struct {
	Name string
	Root string // the cluster's folder on hosts, relative to the home folder unless absolute
	// Label is the key of the label that everything of a cluster has, with Name as its value.
	Label string
	Hosts []Host // in the order in which they are cleaned
}

// Host is where something of the cluster may be.
type Host struct {
	Name string   // as people call it
	SSH  []string // the arguments of ssh, the destination last; empty is this machine
}

//go:embed infra-clean.sh
var text string

var script = template.Must(template.New("infra-clean").Funcs(template.FuncMap{"quote": quote,
	"words": quoteAll}).Parse(text))

// Script is the text of infra-clean.
func Script(c Cluster) []byte {
	var b strings.Builder
	if err := script.Execute(&b, names{c}); err != nil {
		panic(err) // the template is part of the program, and a test runs it
	}
	return []byte(b.String())
}

var nameLine = regexp.MustCompile(`(?m)^cluster='(.*)'$`)

// ClusterOf returns the name of the cluster for which Script made a text; "" if it did not.
func ClusterOf(script []byte) string {
	if m := nameLine.FindSubmatch(script); m != nil {
		return string(m[1])
	}
	return ""
}

// names is a cluster with the names of what it has on hosts.
type names struct{ Cluster }

func (names) MarkerFile() string   { return layout.MarkerFile }
func (names) Cache() string        { return layout.Cache }
func (names) CachedPrefix() string { return layout.CachedPrefix }
func (names) CachedPart() string   { return layout.CachedPart }

// Mark returns what the script prints on a host first.
func (names) Mark() string { return "mlframework infra-clean" }

// Outputs returns a pattern of the shell's for the folders with outputs, relative to the root.
func (names) Outputs() string { return layout.HostOutputs("*") }

func (n names) Lock() string { return layout.Root(n.Root).Lock() }

// quote makes one word of a POSIX shell's out of any text without a NUL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func quoteAll(texts []string) string {
	words := make([]string, len(texts))
	for i, t := range texts {
		words[i] = quote(t)
	}
	return strings.Join(words, " ")
}
