package install_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/nvdocker/install"
)

// script is that of a step of a situation.
func script(t *testing.T, situation, id string) string {
	t.Helper()
	plan, _ := install.Make(situations()[situation]())
	for _, s := range plan.Steps {
		if s.ID == id {
			return s.Script
		}
	}
	t.Fatalf("%s has no step %s", situation, id)
	return ""
}

// run runs a script as the command does, with programs of the test's before all others; it gives
// what was printed.
func run(t *testing.T, programs map[string]string, script, input string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "sh", "-ec", script, "sh")
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	c.Stdin = strings.NewReader(input)
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestListsInUse has another program read the lists of packages, as the system does by itself after
// a start.
func TestListsInUse(t *testing.T) {
	t.Parallel()
	tries := filepath.Join(t.TempDir(), "tries")
	for name, c := range map[string]struct {
		apt  string
		says string
		ok   bool
	}{
		"until it has ended": {`echo x >>` + tries + `; [ "$(wc -l <` + tries +
			`)" -gt 2 ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock'; exit 100; }`, "",
			true},
		"another error": {"echo 'E: no such thing'; exit 100", "no such thing", false},
		"for ever": {"echo 'E: Could not get lock /var/lib/apt/lists/lock'; exit 100",
			"Could not get lock", false},
	} {
		said, err := run(t, map[string]string{"apt-get": c.apt, "sleep": ""}, script(t,
			"other-file", "update"), "")
		if (err == nil) != c.ok || !strings.Contains(said, c.says) {
			t.Errorf("%s: %v, %s", name, err, said)
		}
	}
	if text, _ := os.ReadFile(tries); len(text) != 3*len("x\n") {
		t.Errorf("it tried %q", text)
	}
}

// TestConfigIsReplaced writes daemon.json, with the mode that it had, and only if it is the one
// that was read.
func TestConfigIsReplaced(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "daemon.json")
	text := strings.ReplaceAll(script(t, "debian-12", "cdi"), "/etc/docker", folder)
	if err := os.WriteFile(file, []byte("other\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if said, err := run(t, nil, text, "new\n"); err == nil || !strings.Contains(said,
		"somebody changed") {
		t.Errorf("it is another: %v, %s", err, said)
	}
	said, err := run(t, map[string]string{"sha256sum": "echo '01  file'"}, text, "new\n")
	if err != nil {
		t.Fatal(err, said)
	}
	got, _ := os.ReadFile(file)
	info, err := os.Stat(file)
	if err != nil || string(got) != "new\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	absent := strings.ReplaceAll(script(t, "debian-13", "cdi"), "/etc/docker", filepath.Join(folder,
		"docker"))
	if said, err := run(t, nil, absent, "new\n"); err != nil {
		t.Error(err, said)
	}
	if said, err := run(t, nil, absent, "newer\n"); err == nil {
		t.Errorf("there was none, and now there is one: %s", said)
	}
}

// TestKey takes a key out of its armor, as it is fetched and as it is given.
func TestKey(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0x98, 1, 2, 0xff}, 40)
	armored := "\r\n-----BEGIN PGP PUBLIC KEY BLOCK-----\r\nComment: a=b\r\n\r\n"
	coded := base64.StdEncoding.EncodeToString(raw)
	for ; len(coded) > 64; coded = coded[64:] {
		armored += coded[:64] + "\r\n"
	}
	armored += coded + "\r\n=abcd\r\n-----END PGP PUBLIC KEY BLOCK-----\r\n"
	for name, text := range map[string]string{"armored": armored,
		"unix": strings.ReplaceAll(armored, "\r", ""), "binary": string(raw)} {
		folder := t.TempDir()
		source, to := filepath.Join(folder, "source"), filepath.Join(folder, "keys", "key.gpg")
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fetch := strings.NewReplacer("/usr/lib/apt/apt-helper download-file", "cp",
			install.NVIDIA+"/gpgkey", source,
			"/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg", to).Replace(script(t,
			"debian-13", "key"))
		if said, err := run(t, nil, fetch, ""); err != nil {
			t.Errorf("%s: %v, %s", name, err, said)
		}
		if got, _ := os.ReadFile(to); !bytes.Equal(got, raw) {
			t.Errorf("%s: it is fetched as %x", name, got)
		}
		plan, problem := install.Make(host("debian", "13", "28.2.2"),
			install.Options{Source: "http://mirror.example", Key: []byte(text)})
		if problem != nil || plan.Steps[0].ID != "key" || !bytes.Equal(plan.Steps[0].Input, raw) {
			t.Errorf("%s: it is given as %x, %v", name, plan.Steps[0].Input, problem)
		}
	}
	empty := strings.NewReplacer("/usr/lib/apt/apt-helper download-file", "cp",
		install.NVIDIA+"/gpgkey", os.DevNull).Replace(script(t, "debian-13", "key"))
	if said, err := run(t, nil, empty, ""); err == nil || !strings.Contains(said,
		"there is no key in it") {
		t.Errorf("an empty key: %v, %s", err, said)
	}
}
