package remote

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// include keeps a fuzzed file from naming others.
var include = regexp.MustCompile(`(?im)^[ \t]*include\b`)

// FuzzConfig: whatever stands in ~/.ssh/config, it is read or warned of, and a block behind it
// counts.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"Host gpu1\n\tHostName 10.0.0.1\n",
		"Match exec \"true\"\n  User x\n", "Match host a,b\nPort 22\n",
		"Host *\n  IdentityFile ~/x%d\n",
		"Match all\n", "Host=a\nPort=22", "\x00", "Host \"a b\"", "match originalhost x user y\n",
		"Host !a *\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if include.MatchString(text) || len(text) > 1<<16 {
			t.Skip()
		}
		file := filepath.Join(t.TempDir(), "config")
		const behind = "\nHost last.example\n\tHostName 192.0.2.1\n"
		if err := os.WriteFile(file, []byte(text+behind), 0o600); err != nil {
			t.Fatal(err)
		}
		warned := false
		c := readConfig([]string{file}, "", func(string) { warned = true })
		name := c.get("last.example", "HostName")
		_, _, _ = c.all("gpu1", "IdentityFile"), c.yes("gpu1", "ForwardAgent"),
			c.get(text[:min(len(text), 64)], "Port")
		// which may be empty above it
		if name == "" && !warned && !strings.Contains(strings.ToLower(text), "hostname") {
			t.Errorf("a block behind it is lost without a word")
		}
	})
}

// FuzzKnownHosts: whatever stands in known_hosts, the good line behind it counts.
func FuzzKnownHosts(f *testing.F) {
	key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public())
	if err != nil {
		f.Fatal(err)
	}
	good := "last.example " + string(ssh.MarshalAuthorizedKey(key))
	for _, seed := range []string{"", good, "@revoked " + good, "@cert-authority *.example " +
		good[len("last.example "):], "|1|x|y ssh-rsa AAAA\n", "a b c\n", "\x00\n", "# x",
		"[::1]:22 ssh-ed25519 AAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.Count(text, "\n") > 20 {
			t.Skip()
		}
		file := filepath.Join(t.TempDir(), "known_hosts")
		if err := os.WriteFile(file, []byte(text+"\n"+good), 0o600); err != nil {
			t.Fatal(err)
		}
		k := &known{names: map[string]string{}}
		if err := k.readCopies([]string{file}, func(string, string) {}); err != nil {
			t.Fatal(err)
		}
		if len(k.db.HostKeys("last.example:22")) == 0 && !strings.Contains(text, "last") &&
			!strings.ContainsAny(text, "*?") {
			t.Errorf("the line behind it does not count")
		}
	})
}
