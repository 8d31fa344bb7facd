package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// repository is a source of packages on the network of a lab: signed, and laid out as NVIDIA's,
// with a stand-in for the toolkit.
type repository struct {
	url      string
	key      string // a file
	otherKey string // a file with a key that signed nothing

	mu      sync.Mutex
	files   map[string][]byte
	asked   int                 // how many requests there were
	holding map[string]*holding // by client address
}

// holding makes a client that requests the package wait.
type holding struct{ asked, release chan struct{} }

// newRepository serves a repository at an address of this machine.
func newRepository(t *testing.T, address string) *repository {
	t.Helper()
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("NOT TESTED: gpg is missing, which signs the packages' source")
	}
	r := &repository{holding: map[string]*holding{}}
	deb := packageFile(t, programs)
	packages := fmt.Appendf(nil, `Package: nvidia-container-toolkit
Version: 1.17.8-1
Architecture: amd64
Maintainer: Nobody <nobody@example.com>
Filename: ./toolkit.deb
Size: %d
SHA256: %x
Description: stands in for NVIDIA's
`, len(deb), sha256.Sum256(deb))
	release := fmt.Sprintf("Date: %s\nArchitectures: amd64\nSHA256:\n %x %d Packages\n",
		time.Now().UTC().Add(-time.Hour).Format(time.RFC1123), sha256.Sum256(packages),
		len(packages))
	folder := t.TempDir()
	r.key, r.otherKey = filepath.Join(folder, "key"), filepath.Join(folder, "other")
	signed := sign(t, release, r.key)
	sign(t, release, r.otherKey)
	const at = "/stable/deb/amd64/"
	r.files = map[string][]byte{at + "InRelease": signed, at + "Packages": packages,
		at + "toolkit.deb": deb}
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Skipf("NOT TESTED: this machine has no address on the network of the lab: %v", err)
	}
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	r.url = "http://" + l.Addr().String()
	return r
}

// copyTo puts the repository into a folder of a host, with its key.
func (r *repository) copyTo(t *testing.T, h *lab.Host, folder string) {
	t.Helper()
	key, err := os.ReadFile(r.key)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, text []byte) {
		h.Exec(t, "sh", "-ec", `mkdir -p "$(dirname "$1")" && echo "$2" | base64 -d >"$1"`, "sh",
			folder+name, base64.StdEncoding.EncodeToString(text))
	}
	put("/gpgkey", key)
	for name, text := range r.files {
		put(name, text)
	}
}

// hold has a host wait for the package when it asks for it next.
func (r *repository) hold(address string) *holding {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &holding{make(chan struct{}), make(chan struct{})}
	r.holding[address] = h
	return h
}

// requests is how many there were so far.
func (r *repository) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *repository) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	host, _, _ := net.SplitHostPort(q.RemoteAddr)
	r.mu.Lock()
	r.asked++
	text, there := r.files[path.Clean(q.URL.Path)]
	h := r.holding[host]
	if h != nil && strings.HasSuffix(q.URL.Path, ".deb") {
		delete(r.holding, host)
	} else {
		h = nil
	}
	r.mu.Unlock()
	if h != nil {
		close(h.asked)
		<-h.release
	}
	if !there {
		http.NotFound(w, q)
		return
	}
	_, _ = w.Write(text)
}

// sign signs a text with a new key, whose public part it writes to a file.
func sign(t *testing.T, text, key string) []byte {
	t.Helper()
	home, err := os.MkdirTemp("", "gpg") // sockets in it have short names only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	gpg := func(arguments ...string) []byte {
		t.Helper()
		c := exec.CommandContext(t.Context(), "gpg", append([]string{"--homedir", home, "--batch",
			"--quiet", "--passphrase", ""}, arguments...)...)
		c.Stdin = strings.NewReader(text)
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			t.Fatalf("gpg %v: %v\n%s", arguments, err, said.String())
		}
		return out
	}
	gpg("--quick-generate-key", "nobody@example.com", "ed25519", "sign", "never")
	if err := os.WriteFile(key, gpg("--armor", "--export"), 0o600); err != nil {
		t.Fatal(err)
	}
	return gpg("--clearsign")
}

// programs are those of the package, as NVIDIA's has them as far as they are used here.
var programs = map[string]string{
	"nvidia-container-runtime":      "#!/bin/sh\nexec runc \"$@\"\n",
	"nvidia-container-runtime-hook": "#!/bin/sh\nexit 0\n",
	"nvidia-ctk": `#!/bin/sh
set -e
case "$1 $2" in
"--version ") printf 'NVIDIA Container Toolkit CLI version 1.17.8\ncommit: 0\n' ;;
"runtime configure") sed -i '1s/^{/{"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}, /' /etc/docker/daemon.json ;;
"cdi generate") cat >"${3#--output=}" <<END ;;
cdiVersion: "0.5.0"
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [NVIDIA_VISIBLE_DEVICES=void]
- name: all
  containerEdits:
    env: [NVIDIA_VISIBLE_DEVICES=void]
containerEdits:
  mounts:
  - {hostPath: /usr/bin/nvidia-smi, containerPath: /usr/bin/nvidia-smi, options: [ro, nosuid, nodev, bind]}
END
*) echo "unknown: $*" >&2 && exit 1 ;;
esac
`,
}

// packageFile makes a package for dpkg of programs: an archive of ar(1) with two of tar(1).
func packageFile(t *testing.T, programs map[string]string) []byte {
	t.Helper()
	files := map[string]string{}
	for name, text := range programs {
		files["./usr/bin/"+name] = text
	}
	control := tarFile(t, map[string]string{
		"./control": "Package: nvidia-container-toolkit\nVersion: 1.17.8-1\nArchitecture: amd64\n" +
			"Maintainer: Nobody <nobody@example.com>\nDescription: stands in for NVIDIA's\n",
	})
	data := tarFile(t, files)
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, member := range []struct {
		name string
		text []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", control}, {"data.tar.gz", data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, 0, 0, 0, "100644",
			len(member.text))
		b.Write(member.text)
		if len(member.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func tarFile(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for name, text := range files {
		head := tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Format: tar.FormatGNU}
		if err := archive.WriteHeader(&head); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
