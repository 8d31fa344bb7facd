package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Reach gives those of the addresses, HOST:PORT, with which a host can speak: a connection was
// taken or refused within the wait. They are tried at the same time, and come in their order. It
// needs Facts.Bash.
func Reach(ctx context.Context, shell Shell, addresses []string, wait time.Duration) ([]string,
	error) {
	var out bounded
	args := append([]string{strconv.Itoa(max(1, int(wait.Seconds())))}, addresses...)
	if err := shell(ctx, reach, args, &out); err != nil {
		return nil, fmt.Errorf("try which addresses the host reaches: %w", err)
	}
	return answered(&out, addresses), nil
}

// reach prints the addresses that answer. timeout ends with 124 when none did.
const reach = `wait=$1
shift
for at; do
	(
		said=$(timeout "$wait" bash -c 'exec 3<>"/dev/tcp/${0%:*}/${0##*:}"' "$at" 2>&1)
		case $?,$said in
		0,* | *refused*) printf '%s\n' "$at" ;;
		esac
	) &
done
wait
`

func answered(out io.Reader, addresses []string) (reached []string) {
	said := map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said[strings.TrimSpace(lines.Text())] = true
	}
	for _, at := range addresses {
		if said[at] {
			reached = append(reached, at)
		}
	}
	return reached
}
