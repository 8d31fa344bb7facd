package install

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// quiet begins scripts with packages: it keeps these from asking, and needrestart of Ubuntu from
// restarting Docker by itself.
const quiet = "export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1\n"

// aptGet waits for other programs that install, as Ubuntu does by itself after a start, and keeps
// files that somebody has changed.
func aptGet(arguments string) string {
	return "apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold " + arguments
}

// updateFrom reads the lists of one file of sources only: what is wrong with others is nothing to
// do with this. Error-Mode makes a source that cannot be read a failure, which is a warning
// otherwise. Apt itself waits for dpkg's lock and not for that of the lists, which Ubuntu and
// Debian hold for a while after a start.
func updateFrom(file string) string {
	command := aptGet("update -o Dir::Etc::sourcelist=" + file +
		" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any")
	return strings.Replace(awaitLists, "COMMAND", command, 1)
}

const awaitLists = `for try in $(seq 60); do
	if said=$(COMMAND 2>&1); then exit 0; fi
	case $said in *'Could not get lock'*) sleep 5 ;; *) break ;; esac
done
printf '%s\n' "$said"
exit 1`

// fetchKey has apt fetch the key, as it knows the way through a proxy and needs no other program. A
// key in armor is taken out of it, as apt takes it without gpg installed only then.
const fetchKey = `new=$(mktemp)
trap 'rm -f "$new" "$new.key"' EXIT
/usr/lib/apt/apt-helper download-file SOURCE "$new"
if grep -q '^-----BEGIN PGP' "$new"; then
	awk '/^-----BEGIN/ {x = 1} /^\r?$/ {if (x == 1) x = 2} /^[^=-]/ {if (x == 2) print} /^-----END/ {x = 0}' "$new" | tr -d '\r' | base64 -d >"$new.key"
else
	cp "$new" "$new.key"
fi
[ -s "$new.key" ] || { echo 'there is no key in it' >&2 && exit 1; }
install -D -m 644 "$new.key" `

// source plans where the packages come from.
func (m *maker) source() {
	at := m.o.source()
	for _, file := range m.f.Sources {
		if file != sourceFile {
			m.add(Step{ID: "update", Title: "read the list of packages of " + at + ", which " +
				file + " names", Script: quiet + updateFrom(file)})
			return
		}
	}
	if strings.HasPrefix(at, "https:") && len(m.f.Lacks) > 0 {
		packages := strings.Join(m.f.Lacks, " ")
		m.add(Step{ID: "certificates", Title: "install " + packages,
			Script: quiet + aptGet("update") + "\n" +
				aptGet("install -y --no-install-recommends "+packages)})
	}
	line := "deb [signed-by=" + keyFile + "] " + at + "/stable/deb/$(ARCH) /\n"
	given := dearmor(m.o.Key)
	if m.f.Source == line && m.f.KeySum != "" && (given == nil || sum(given) == m.f.KeySum) &&
		slices.Contains(m.f.Candidates, toolkit) {
		return
	}
	switch {
	case len(given) > 0 && sum(given) != m.f.KeySum:
		m.add(Step{ID: "key", Title: "trust the key that was given, for this source only",
			Input:  given,
			Script: "install -D -m 644 /dev/stdin " + keyFile})
	case len(given) == 0 && (m.f.KeySum == "" || m.f.Source != line):
		m.add(Step{ID: "key", Title: "trust the key of " + at + ", for this source only",
			Script: strings.Replace(fetchKey, "SOURCE", quote(at+"/gpgkey"), 1) + keyFile})
	}
	m.add(Step{ID: "source", Title: "add the source " + at +
		" to apt, and read its list of packages",
		Script: quiet + "echo " + quote(strings.TrimSuffix(line, "\n")) + " >" + sourceFile + "\n" +
			updateFrom(sourceFile),
		Undo: "rm -f " + sourceFile + " " + keyFile})
}

// dearmor is a key without the armor of OpenPGP (RFC 9580, 6.2); other text stays as it is.
func dearmor(key []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimSpace(key), []byte("-----BEGIN PGP")) {
		return key
	}
	var coded strings.Builder
	body := false
	for line := range strings.Lines(string(key)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "-----"):
			body = false
		case line == "":
			body = true
		case body && line[0] != '=':
			coded.WriteString(line)
		}
	}
	raw, err := base64.StdEncoding.DecodeString(coded.String())
	if err != nil {
		return key // apt says what is wrong with it
	}
	return raw
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// replaceConfig writes daemon.json from its input, unless it is not any more what the host said.
func replaceConfig(sum string) string {
	look := "[ ! -e " + configFile + " ] || changed\n"
	if sum != "" {
		look = "[ \"$(sha256sum " + configFile + " | cut -d' ' -f1)\" = " + sum + " ] || changed\n"
	}
	return "changed() {\n\techo 'somebody changed " + configFile +
		" meanwhile' >&2\n\texit 1\n}\n" + look +
		"mkdir -p /etc/docker\n[ ! -e " + configFile + " ] || cp -p " + configFile + " " +
		configFile + ".new\ncat >" + configFile + ".new\nmv " + configFile + ".new " +
		configFile
}

//go:embed restart.sh
var restartScript string

//go:embed check.sh
var checkTemplate string

// checkScript makes a container with options see the GPUs.
func checkScript(options string, uuids []string) string {
	values := strings.NewReplacer("OPTIONS", options, "UUIDS", strings.Join(uuids, " "))
	return values.Replace(checkTemplate)
}

// quote makes one word for sh of a text.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
