package config

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mlframework/infra/host"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// maxName leaves room for roles in the names of containers, which are host names: 63.
const maxName = 48

// What Docker accepts at least
// (https://docs.docker.com/engine/containers/resource_constraints/), and a /dev/shm that programs
// can begin with.
const (
	leastMemory = 6 << 20
	leastShared = 64 << 10
)

// problem is what is wrong with a value, or with one element of it, counted from 1.
type problem struct {
	element      int
	text, remedy string
}

// wrong is a problem with a text.
func wrong(text, what, remedy string) problem {
	return problem{text: fault.Quote(text) + " " + what, remedy: remedy}
}

// kind is what the texts of an option may be.
type kind struct {
	list  bool   // elements, apart by commas where they stand in one text
	none  string // what an empty list of elements means; "": the default
	parse func(words []string) (any, []problem)
	// name checks the names of a mapping of names to texts; the second result makes it a warning.
	name func(name string) (problem, bool)
}

var kinds = map[string]kind{
	"hosts":          {list: true, parse: elements(host.ParseList)},
	"positions":      {list: true, parse: elements(host.ParsePositions)},
	"position":       {parse: word(parsePosition)},
	"path":           {parse: word(parsePath)},
	"folder":         {parse: word(parseFolder)},
	"name":           {parse: word(parseName)},
	"image":          {parse: word(parseImage)},
	"memory":         {parse: word(size(leastMemory))},
	"shm":            {parse: word(size(leastShared))},
	"gpus":           {list: true, none: noGPUs, parse: parseGPUs},
	"gpu-busy":       {parse: word(parseGPUBusy)},
	"gpu-memory":     {parse: word(parseGPUMemory)},
	"address":        {parse: word(parseMasterAddress)},
	"user":           {parse: word(parseUser)},
	"host-key-check": {parse: word(parseHostKeyCheck)},
	"switch":         {parse: word(parseSwitch)},
	"duration":       {parse: word(parseDuration)},
	"lease":          {parse: word(parseLease)},
	"volumes":        {list: true, parse: parseVolumes},
	"labels":         {name: checkLabel},
	"variables":      {name: checkVariable},
}

// word parses the one word of an option.
func word[T any](parse func(string) (T, problem)) func([]string) (any, []problem) {
	return func(words []string) (any, []problem) {
		v, p := parse(words[0])
		if p.text != "" {
			return nil, []problem{p}
		}
		return v, nil
	}
}

func elements[T any](parse func([]string) ([]T, error)) func([]string) (any, []problem) {
	return func(words []string) (any, []problem) {
		list, err := parse(words)
		return list, ofHost(err)
	}
}

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

func parsePosition(text string) (host.Position, problem) {
	position, err := host.ParsePosition(text)
	if problems := ofHost(err); len(problems) > 0 {
		return 0, problems[0]
	}
	return position, problem{}
}

// checkText refuses what no option is made of.
func checkText(text string) problem {
	switch {
	case text == "":
		return problem{text: "is empty", remedy: "write a value, or remove it"}
	case strings.ContainsFunc(text, unicode.IsControl):
		return wrong(text, "holds a control character", "remove it")
	}
	return problem{}
}

func parsePath(text string) (string, problem) { return filepath.FromSlash(text), checkText(text) }

// clusterName matches what Docker takes for a part of an image's name
// (https://pkg.go.dev/github.com/distribution/reference): images of a cluster have its name.
var clusterName = regexp.MustCompile(`^[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*$`)

func parseName(text string) (string, problem) {
	if len(text) > maxName || !clusterName.MatchString(text) {
		return "", wrong(text, "is not a valid name for a cluster", fmt.Sprintf("write up to %d "+
			"lowercase letters and digits, with single dots, dashes or underscores between them",
			maxName))
	}
	return text, problem{}
}

// parseFolder wants a folder below the home folder, never the home folder itself: infra-clean may
// remove it.
func parseFolder(text string) (string, problem) {
	clean := path.Clean(text)
	switch p := checkText(text); {
	case p.text != "":
		return "", p
	case path.IsAbs(text) || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "-"):
		return "", wrong(text, "is not relative to the home folder",
			"write its path below that: mlframework")
	case clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		return "", wrong(text, "is not a folder of its own below the home folder",
			"write one such as mlframework")
	}
	return clean, problem{}
}

func parseImage(text string) (string, problem) {
	p := checkText(text)
	if p.text == "" && (strings.ContainsFunc(text, unicode.IsSpace) || text[0] == '-') {
		p = wrong(text, "is not a valid name of an image", "write one such as python:3.12-slim")
	}
	return text, p
}

// number accepts whole numbers between two of them, which are written in a tag.
func number(of, least, most string) func(string) (int, problem) {
	from, _ := strconv.Atoi(least)
	to, _ := strconv.Atoi(most)
	return func(text string) (int, problem) {
		n, err := strconv.Atoi(text)
		if err != nil || text[0] == '+' || n < from || n > to {
			return 0, wrong(text, "is not a valid number for "+of,
				"write a whole number from "+least+" to "+most)
		}
		return n, problem{}
	}
}

// Choices of GPUs that name none.
const allGPUs, noGPUs = "all", "none"

var device = regexp.MustCompile(`^([0-9]{1,3}(:[0-9]{1,2})?|(GPU|MIG)-[A-Za-z0-9/-]+)$`)

func parseGPUs(words []string) (any, []problem) {
	switch {
	case slices.Equal(words, []string{allGPUs}):
		return GPUs{}, nil
	case slices.Equal(words, []string{noGPUs}):
		return GPUs{None: true}, nil
	}
	var problems []problem
	for i, d := range words {
		if !device.MatchString(d) {
			problems = append(problems, problem{i + 1, fault.Quote(d) + " is not a GPU",
				"write all, none, or numbers and UUIDs as nvidia-smi -L shows them: 0,2"})
		} else if slices.Contains(words[:i], d) {
			problems = append(problems, problem{i + 1, fault.Quote(d) + " is there twice",
				"remove one"})
		}
	}
	return GPUs{Devices: words}, problems
}

func parseGPUBusy(text string) (string, problem) {
	known := []string{"memory", "mine", "never"}
	if slices.Contains(known, text) {
		return text, problem{}
	}
	return "", problem{text: "unknown word " + fault.Quote(text),
		remedy: fault.Meant(text, known, "write memory, mine or never")}
}

// parseGPUMemory keeps the text, which is that of an option of sweepd.
func parseGPUMemory(text string) (string, problem) {
	_, p := size(1 << 20)(text)
	return text, p
}

func parseMasterAddress(text string) (string, problem) {
	a, err := host.Parse(text)
	if problems := ofHost(err); len(problems) > 0 {
		return "", problem{text: problems[0].text,
			remedy: "write the name or IP address of the master's host, as workers reach it"}
	}
	if a.User != "" || a.Port != 0 || a.Local() {
		return "", wrong(text, "is more than an address",
			"write a name or an IP address; the port is broker-port")
	}
	return a.Name, problem{}
}

func parseUser(text string) (string, problem) {
	a, err := host.Parse(text + "@host")
	if err != nil || a.User != text {
		return "", wrong(text, "is not a valid name of a user", "write the user on that host")
	}
	return text, problem{}
}

func parseHostKeyCheck(text string) (HostKeyCheck, problem) {
	known := []string{string(CheckYes), string(CheckAcceptNew), string(CheckNo)}
	if slices.Contains(known, text) {
		return HostKeyCheck(text), problem{}
	}
	return "", problem{text: "unknown word " + fault.Quote(text),
		remedy: fault.Meant(text, known, "write yes, accept-new or no")}
}

func parseSwitch(text string) (bool, problem) {
	is, ok := yamlfile.Boolean(text)
	if !ok && text != "0" && text != "1" {
		return false, wrong(text, "is neither true nor false", "write true or false")
	}
	return is || text == "1", problem{}
}

func parseDuration(text string) (d time.Duration, p problem) {
	d, p.text, p.remedy = yamlfile.ParseDuration(text)
	return d, p
}

// minLease is the minimum lease that a master accepts: workers send a heartbeat every 2 s.
const minLease = 5 * time.Second

func parseLease(text string) (time.Duration, problem) {
	d, p := parseDuration(text)
	if p.text == "" && d < minLease {
		p = problem{text: text + " is too short",
			remedy: "write 5s or more: workers send a heartbeat every 2s"}
	}
	return d, p
}

// duration is how parseDuration reads it: 1h30m0s without its zeros.
func duration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	if d == 0 {
		return "0"
	}
	return text
}

// size reads a number of bytes.
func size(least int64) func(string) (int64, problem) {
	return func(text string) (n int64, p problem) {
		n, p.text, p.remedy = yamlfile.ParseSize(text, least)
		return n, p
	}
}
