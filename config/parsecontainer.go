package config

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mlframework/sweep/fault"
)

func parseVolumes(words []string) (any, []problem) {
	var volumes, targets []string
	var problems []problem
	for i, w := range words {
		target, p := parseVolume(w)
		if p.text == "" && slices.Contains(targets, target) {
			p = wrong(target, "is the target of two volumes", "remove one")
		}
		if p.element = i + 1; p.text != "" {
			problems = append(problems, p)
			continue
		}
		volumes, targets = append(volumes, w), append(targets, target)
	}
	return volumes, problems
}

func parseVolume(text string) (target string, p problem) {
	parts := strings.Split(text, ":")
	switch {
	case len(parts) < 2 || len(parts) > 3:
		return "", wrong(text, "is not a volume", "write SOURCE:TARGET or SOURCE:TARGET:ro")
	case !path.IsAbs(parts[0]) && parts[0] != "~" && !strings.HasPrefix(parts[0], "~/"):
		return "", problem{text: "the source " + fault.Quote(parts[0]) + " is not an absolute path",
			remedy: "begin it with / or ~/, as on the host"}
	case !path.IsAbs(parts[1]) || path.Clean(parts[1]) == "/":
		return "", problem{
			text:   "the target " + fault.Quote(parts[1]) + " is not an absolute path below /",
			remedy: "write one such as /data"}
	case len(parts) == 3 && parts[2] != "ro" && parts[2] != "rw":
		return "", problem{text: "unknown word " + fault.Quote(parts[2]),
			remedy: "write ro for read-only, or nothing"}
	}
	return path.Clean(parts[1]), problem{}
}

var (
	labelName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretName   = regexp.MustCompile(
		`(?i)(token|password|passwd|secret|api_?key|access_?key|credentials?)$`)
)

func checkLabel(name string) (p problem, warning bool) {
	if !labelName.MatchString(name) {
		p = wrong(name, "is not a valid name of a label",
			"write letters, digits and . _ - /, a letter or digit first and last")
	} else if strings.HasPrefix(name, "mlframework.") {
		p = problem{text: "labels that begin with mlframework. are the cluster's own",
			remedy: "choose another name"}
	}
	return p, false
}

func checkVariable(name string) (p problem, warning bool) {
	if !variableName.MatchString(name) {
		return wrong(name, "is not a valid name of a variable",
			"begin it with a letter or _, go on with letters, digits and _"), false
	} else if secretName.MatchString(name) {
		p = problem{text: "secrets have no place in this file",
			remedy: "name it under secrets in tasks.yml, and set it where run-tasks is called"}
	}
	return p, true
}
