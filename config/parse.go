package config

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// Bounds that no sensible cluster meets; they catch slips of the finger.
const (
	maxSlots    = 4096
	maxGPUs     = 256
	maxName     = 48 // leaves room for roles in the names of containers, which are host names: 63
	maxDuration = 3650 * 24 * time.Hour
	maxQuoted   = 60 // characters of a text that a message repeats
)

const devicePrefix = "device="

var (
	clusterName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	groupName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`) // useradd(8), and dots
	device      = regexp.MustCompile(`^([0-9]{1,3}(:[0-9]{1,2})?|(GPU|MIG)-[A-Za-z0-9/-]+)$`)
)

// checkText refuses what no option is made of.
func checkText(text string) problem {
	switch {
	case text == "":
		return problem{text: "is empty", remedy: "write a value, or remove it"}
	case strings.ContainsFunc(text, unicode.IsControl):
		return problem{text: quote(text) + " holds a control character", remedy: "remove it"}
	}
	return problem{}
}

func parsePath(text string) (string, problem) { return filepath.FromSlash(text), checkText(text) }

// parseFolder wants a folder below the home folder, never the home folder itself: infra-clean may remove it.
func parseFolder(text string) (string, problem) {
	clean := path.Clean(text)
	switch p := checkText(text); {
	case p.text != "":
		return "", p
	case path.IsAbs(text) || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "-"):
		return "", problem{text: quote(text) + " is not relative to the home folder", remedy: "write its path below that: " + DefaultFolder}
	case clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		return "", problem{text: quote(text) + " is not a folder of its own below the home folder", remedy: "write one such as " + DefaultFolder}
	}
	return clean, problem{}
}

func parseName(text string) (string, problem) {
	if !clusterName.MatchString(text) || len(text) > maxName {
		return "", problem{text: quote(text) + " is no name for a cluster",
			remedy: fmt.Sprintf("write up to %d letters, digits, dots, dashes and underscores, a letter or digit first and last", maxName)}
	}
	return text, problem{}
}

func parseImage(text string) (string, problem) {
	p := checkText(text)
	if p.text == "" && (strings.ContainsFunc(text, unicode.IsSpace) || text[0] == '-') {
		p = problem{text: quote(text) + " is no name of an image", remedy: "write one such as python:3.12-slim"}
	}
	return text, p
}

func parseSlots(text string) (int, problem) { return parseCount(text, "slots", 1, maxSlots) }

func parsePort(text string) (int, problem) { return parseCount(text, "a port", 1, 65535) }

func parseCount(text, what string, least, most int) (int, problem) {
	n, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' || n < least || n > most {
		return 0, problem{text: fmt.Sprintf("%s is no number for %s", quote(text), what), remedy: fmt.Sprintf("write a whole number from %d to %d", least, most)}
	}
	return n, problem{}
}

func parseGPUs(text string) (GPUs, problem) {
	const remedy = "write all, none, a number, or device= and indexes or UUIDs: device=0,2"
	list, isList := strings.CutPrefix(text, devicePrefix)
	switch {
	case text == "all":
		return GPUs{}, problem{}
	case text == "none" || text == "0":
		return GPUs{None: true}, problem{}
	case !isList:
		n, p := parseCount(text, "GPUs", 1, maxGPUs)
		if p.text != "" {
			p = problem{text: quote(text) + " is no choice of GPUs", remedy: remedy}
		}
		return GPUs{Count: n}, p
	}
	devices := host.Split(list)
	for i, d := range devices {
		switch {
		case !device.MatchString(d):
			return GPUs{}, problem{text: fmt.Sprintf("%s: %s is no GPU", quote(text), quote(d)), remedy: remedy}
		case slices.Contains(devices[:i], d):
			return GPUs{}, problem{text: fmt.Sprintf("%s: %s is there twice", quote(text), quote(d)), remedy: "remove one"}
		}
	}
	if len(devices) == 0 {
		return GPUs{}, problem{text: quote(text) + " names no GPU", remedy: remedy}
	}
	return GPUs{Devices: devices}, problem{}
}

func parseMasterAddress(text string) (string, problem) {
	a, err := host.Parse(text)
	if problems := ofHost(err); len(problems) > 0 {
		p := problems[0]
		p.remedy = "write the name or IP address of the master's host, as workers reach it"
		return "", p
	}
	if a.User != "" || a.Port != 0 || a.Local() {
		return "", problem{text: quote(text) + " is more than an address", remedy: "write a name or an IP address; the port is broker-port"}
	}
	return a.Name, problem{}
}

func parseGroup(text string) (string, problem) {
	if !groupName.MatchString(text) {
		return "", problem{text: quote(text) + " is no name of a group", remedy: "write a group of the master's host"}
	}
	return text, problem{}
}

func parseHostKeyCheck(text string) (HostKeyCheck, problem) {
	known := []string{string(CheckYes), string(CheckAcceptNew), string(CheckNo)}
	if slices.Contains(known, text) {
		return HostKeyCheck(text), problem{}
	}
	p := problem{text: "unknown word " + quote(text), remedy: "write yes, accept-new or no"}
	if near := fault.Nearest(text, known); near != "" {
		p.remedy = fmt.Sprintf("did you mean %q?", near)
	}
	return "", p
}

func parseSwitch(text string) (bool, problem) {
	switch text {
	case "true", "True", "TRUE", "1":
		return true, problem{}
	case "false", "False", "FALSE", "0":
		return false, problem{}
	}
	return false, problem{text: quote(text) + " is neither true nor false", remedy: "write true or false"}
}

var days = regexp.MustCompile(`^([0-9]{1,5})d`)

// parseDuration reads 90s, 10m, 1h30m, 2d, and 0.
func parseDuration(text string) (time.Duration, problem) {
	const remedy = "write one such as 90s, 10m, 1h30m or 2d; 0 is no limit"
	rest, whole := text, time.Duration(0)
	if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // five digits at most
		whole, rest = time.Duration(n)*24*time.Hour, text[len(m[0]):]
		if rest == "" {
			rest = "0"
		}
	}
	d, err := time.ParseDuration(rest)
	switch {
	case err != nil:
		return 0, problem{text: quote(text) + " is not a duration", remedy: remedy}
	case d < 0:
		return 0, problem{text: quote(text) + " is negative", remedy: remedy}
	case whole+d > maxDuration:
		return 0, problem{text: quote(text) + " is longer than ten years", remedy: remedy}
	}
	return whole + d, problem{}
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

var sizeText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kmgtKMGT])(?:i?[bB])?$`)

// parseSize reads a number of bytes from least to 1 PiB, units being powers of 1024.
func parseSize(text string, least int64) (int64, problem) {
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return 0, problem{text: quote(text) + " is not a size", remedy: "write a number with a unit: 512m or 2g"}
	}
	n, _ := strconv.ParseFloat(m[1], 64) // too large is infinite
	bytes := n * math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	if bytes < float64(least) || bytes > 1<<50 {
		return 0, problem{text: quote(text) + " is too small or too large", remedy: fmt.Sprintf("write a size from %dk to 1024t", least>>10)}
	}
	return int64(math.Round(bytes)), problem{}
}

// quote repeats what a person wrote: escaped, and not too long.
func quote(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
