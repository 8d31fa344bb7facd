package install

import (
	"regexp"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// explanation is of an error that people meet.
type explanation struct {
	text          *regexp.Regexp
	cause, remedy string
}

// everywhere are the errors that any step may meet.
var everywhere = []explanation{
	{regexp.MustCompile(`(?i)no space left on device|enough free (disk )?space`),
		"its disk is full", "free some space (df -h shows where), and try again"},
	{regexp.MustCompile(`(?i)sudo: a password is required|may not run sudo`),
		"sudo asks for a password there",
		"log in as root (root@HOST), or let an administrator allow it without"},
}

// packaging are the steps that use apt, dpkg or the source.
var packaging = []string{"dpkg", "certificates", "key", "source", "update", "toolkit", "driver"}

// ofPackages are the errors of apt and dpkg, the special before the general. SOURCE stands for the
// source.
var ofPackages = []explanation{
	{regexp.MustCompile(`(?i)could not get lock|unable to acquire the dpkg`),
		"another program installs packages there",
		"wait until it has ended (ps aux | grep -E 'apt|dpkg' shows it), and try again"},
	{regexp.MustCompile(`(?i)NO_PUBKEY|is not signed|EXPKEYSIG|BADSIG|couldn't be verified|` +
		`signatures were invalid|unsupported filetype|OpenPGP signature verification failed`),
		"SOURCE is not signed by the key that was given for it",
		"compare the key with that of the source, and name it with --source-key FILE"},
	{regexp.MustCompile(`(?i)temporary failure resolving|could not resolve|could not connect|` +
		`connection timed out|network is unreachable|connection failed|unable to connect`),
		"it does not reach SOURCE",
		"let it through to there, tell apt of a proxy (Acquire::https::Proxy in " +
			"/etc/apt/apt.conf.d), or name a mirror with --source URL"},
	{regexp.MustCompile(`(?i)certificate verification failed|` +
		`certificate is NOT trusted|no system certificates available`),
		"it does not trust the certificate of SOURCE",
		"install ca-certificates there, and look at its clock and at a proxy that reads along"},
	{regexp.MustCompile(`(?i)does not have a release file|` +
		`404 +not found|403 +forbidden|file not found`),
		"SOURCE has no packages where NVIDIA's has them (gpgkey, stable/deb/amd64)",
		"look at --source: it is the address above these"},
	{regexp.MustCompile(`(?i)unable to locate package|has no installation candidate`),
		"apt knows no package of that name",
		"run sudo apt-get update there, look at its sources in /etc/apt, and try again"},
	{regexp.MustCompile(`(?i)unmet dependencies|held broken packages|pkgProblemResolver`),
		"its packages do not go together",
		"run sudo apt-get install -f there, and look for packages that are held (apt-mark " +
			"showhold)"},
}

// gone is what apt says of a package that its lists have, and their source not any more.
var gone = regexp.MustCompile(`404 +Not Found|File not found`)

// Explain is what a step's failure means, and what to do about it. Text is what the step printed.
func Explain(s Step, o Options, text string) *nvdocker.Problem {
	if s.ID == "toolkit" && gone.MatchString(text) {
		return &nvdocker.Problem{Cause: s.Title + ": its lists of packages are old",
			Remedy: "run sudo apt-get update there, and try again"}
	}
	known := everywhere
	if slices.Contains(packaging, s.ID) {
		known = slices.Concat(everywhere, ofPackages)
	}
	for _, e := range known {
		if e.text.MatchString(text) {
			cause := strings.ReplaceAll(e.cause, "SOURCE", o.source())
			return &nvdocker.Problem{Cause: s.Title + ": " + cause, Remedy: e.remedy}
		}
	}
	if known := nvdocker.Explain(text); known != nil {
		return &nvdocker.Problem{Cause: s.Title + ": " + known.Cause, Remedy: known.Remedy}
	}
	problem := &nvdocker.Problem{Cause: s.Title + ": " + last(text),
		Remedy: "run nvdocker-install again when that is repaired: it goes on where it was"}
	if s.Restarts {
		problem.Remedy = "sudo journalctl -u docker shows why; then run nvdocker-install again"
	}
	return problem
}

// last are the last lines of a text, those of errors if it has any.
func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var wrong []string
	for _, line := range lines {
		if strings.HasPrefix(line, "E: ") {
			wrong = append(wrong, strings.TrimPrefix(line, "E: "))
		}
	}
	if len(wrong) == 0 {
		wrong = lines[max(0, len(lines)-3):]
	}
	if text = strings.Join(wrong, "; "); text == "" {
		return "it failed and said nothing"
	}
	return text
}
