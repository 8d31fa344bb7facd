package broker

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Oldest version of RabbitMQ that knows all of Files.
const oldestMajor, oldestMinor = 3, 10

// look prints what an image has that a broker's needs. RabbitMQ's own programs have its version in
// the names of folders beside them; others, such as those that Debian puts before them, are asked.
const look = `for p in getent cut tr docker-entrypoint.sh rabbitmq-server rabbitmqctl; do
	command -v "$p" >/dev/null || echo "missing $p"
done
[ -w "$1" ] || echo "unwritable $1"
if command -v erl >/dev/null; then
	erl -noinput -eval 'case code:lib_dir(ssl) of
		{error, _} -> io:put_chars("missing TLS\n");
		_ -> ok
	end, halt().'
fi
server=$(readlink -f "$(command -v rabbitmq-server)")
set -- "${server%/*}"/../plugins/rabbit-[0-9]*
if [ -e "$1" ]; then
	echo "version ${1##*/rabbit-}"
else
	said=$(rabbitmqctl version 2>&1) && echo "version $said" || echo "refuses $said"
fi`

// Look is what a container of an image runs, as the user of the broker, to find out whether it can
// be one. ImageFaults reads what it prints.
func Look() (entrypoint, env []string) {
	return []string{"sh", "-c", look, "sh", Data}, []string{"HOME=/tmp"}
}

// version is how the number of a version begins.
var version = regexp.MustCompile(`^version (\d{1,4})\.(\d{1,4})`)

// ImageFaults finds what is missing in an image, in words, in what Look has printed in a container
// of the user: none is nothing. Versions that it does not know are no fault.
func ImageFaults(printed, user string) (faults []string) {
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "missing "); is {
			faults = append(faults, "it has no "+name)
		}
		if folder, is := strings.CutPrefix(line, "unwritable "); is {
			faults = append(faults, fmt.Sprintf("user %s may not write in %s", user, folder))
		}
		if v := version.FindStringSubmatch(line); v != nil {
			major, _ := strconv.Atoi(v[1]) // digits
			minor, _ := strconv.Atoi(v[2])
			if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
				faults = append(faults, fmt.Sprintf(
					"its RabbitMQ is %s.%s, and %d.%d or newer is needed",
					v[1], v[2], oldestMajor, oldestMinor))
			}
		}
	}
	const refuses = "\nrefuses "
	at := strings.Index("\n"+printed, refuses)
	if at >= 0 && !strings.Contains(printed, "missing rabbitmqctl") {
		said := strings.TrimSpace(printed[at+len(refuses)-1:])
		said = said[strings.LastIndex(said, "\n")+1:]
		faults = append(faults, fmt.Sprintf("its RabbitMQ does not run as user %s: %.200s", user,
			said))
	}
	return faults
}
