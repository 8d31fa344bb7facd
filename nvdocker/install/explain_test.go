package install_test

import (
	"strings"
	"testing"

	"mlframework/nvdocker/install"
)

// TestExplain has what apt, dpkg and Docker print, as they do.
func TestExplain(t *testing.T) {
	t.Parallel()
	step := install.Step{ID: "source", Title: "do it"}
	for text, want := range map[string]string{
		"E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1234 (apt-get)": "another program installs",
		"E: You don't have enough free space in /var/cache/apt/archives/.":                    "disk is full",
		"W: GPG error: http://m InRelease: The following signatures couldn't be verified " +
			"because the public key is not available: NO_PUBKEY 1": "not signed by the key",
		"E: Failed to fetch https://m/InRelease  Temporary failure resolving 'm'": "does not " +
			"reach http://m.example",
		"E: Failed to fetch http://m/InRelease  Could not connect to m:80 (192.0.2.1). - " +
			"connect (111: Connection refused)": "does not reach " +
			"http://m.example",
		"E: The repository 'http://m Release' does not have a Release file.": "no packages where " +
			"NVIDIA's has them",
		"E: Unable to locate package nvidia-container-toolkit": "no package of " +
			"that name",
		"docker: Error response from daemon: could not select device driver \"\" with " +
			"capabilities: [[gpu]].": "found no NVIDIA " +
			"container toolkit",
		"one\ntwo\nE: Something else\nE: and more": "do it: Something else; and more",
		"": "it failed and said nothing",
	} {
		problem := install.Explain(step, install.Options{Source: "http://m.example/"}, text)
		if !strings.Contains(problem.Cause, want) || !strings.HasPrefix(problem.Cause, "do it: ") ||
			problem.Remedy == "" {
			t.Errorf("%s:\n%+v", text, problem)
		}
	}
	step.ID = "toolkit"
	if problem := install.Explain(step, install.Options{},
		"E: Failed to fetch https://m/x.deb  404  Not Found [IP: 192.0.2.1 80]"); !strings.Contains(
		problem.Cause, "lists of packages are old") {
		t.Errorf("%+v", problem)
	}
}

// TestExplainKnowsWhatPrinted does not take what Docker prints for errors of apt.
func TestExplainKnowsWhatPrinted(t *testing.T) {
	t.Parallel()
	const hook = `docker: Error response from daemon: exec: "nvidia-container-runtime-hook": ` +
		"executable file not found in $PATH"
	for _, id := range []string{"check", "restart", "spec", "cdi", "runtime"} {
		problem := install.Explain(install.Step{ID: id, Title: "do it"}, install.Options{}, hook)
		if strings.Contains(problem.Cause, "has no packages") || problem.Remedy == "" {
			t.Errorf("%s: %+v", id, problem)
		}
	}
	for _, id := range []string{"certificates", "key", "source", "update", "driver"} {
		problem := install.Explain(install.Step{ID: id, Title: "do it"}, install.Options{},
			"E: Failed to fetch https://m/InRelease  403  Forbidden")
		if !strings.Contains(problem.Cause, "has no packages") {
			t.Errorf("%s: %+v", id, problem)
		}
	}
	for _, id := range []string{"check", "cdi", "toolkit"} {
		problem := install.Explain(install.Step{ID: id, Title: "do it"}, install.Options{},
			"sh: write error: No space left on device")
		if !strings.Contains(problem.Cause, "disk is full") {
			t.Errorf("%s: %+v", id, problem)
		}
	}
}
