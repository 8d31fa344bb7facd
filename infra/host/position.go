package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxNumber is far above any list of hosts, and keeps what a range can make of a few characters
// small.
const maxNumber = 9999

// Position is one of the machines: a number in the list of hosts, counted from 1, or Here. The zero
// value is none.
type Position int

// Here is this machine, written "local".
const Here Position = -1

// String is the position as ParsePosition reads it; "" is none.
func (p Position) String() string {
	switch p {
	case 0:
		return ""
	case Here:
		return LocalName
	}
	return strconv.Itoa(int(p))
}

// Numbers puts the number of a host, counted from 1, for each word that names it: by its worker's
// name, as it is listed, or by its host name alone. Words that name none or several stay.
func Numbers(hosts []Address, words []string) []string {
	names := Names(hosts)
	all := slices.Clone(words)
	for i, word := range words {
		word = strings.TrimSpace(word)
		if _, is := parsePosition(word); is {
			continue
		}
		if n := find(hosts, names, word); n > 0 {
			all[i] = strconv.Itoa(n)
		}
	}
	return all
}

// find returns the number of the host that a word names, 0 when it names none or several.
func find(hosts []Address, names []string, word string) int {
	if i := slices.Index(names, word); i >= 0 {
		return i + 1
	}
	named, err := Parse(word)
	if err != nil {
		return 0
	}
	number := 0
	for i, a := range hosts {
		switch {
		case a.Normal() == named.Normal():
			return i + 1
		case named.User != "" || named.Port != 0 || a.Normal().Name != named.Normal().Name:
		case number > 0:
			return 0
		default:
			number = i + 1
		}
	}
	return number
}

// ParsePosition reads -m: "local" or a number. No text is no position. The error is of type Faults.
func ParsePosition(text string) (Position, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	p, ok := parsePosition(text)
	switch {
	case !ok && strings.ContainsAny(text[1:], ",-"):
		return 0, Faults{{Option: Master, Problem: quote(text) + " is more than one host",
			Remedy: "the master runs on one host: write local or its number"}}
	case !ok:
		return 0, Faults{{Option: Master, Problem: quote(text) + " is neither local nor a host " +
			"of -a", Remedy: "write local, or the name or number of a host of -a, counted from 1"}}
	}
	return p, nil
}

// ParsePositions reads the elements of -w: "local", numbers, and ranges of them such as 2-5. The
// elements that are right are in the list beside an error, which is of type Faults.
func ParsePositions(elements []string) ([]Position, error) {
	var list []Position
	var faults Faults
	for i, e := range elements {
		positions, problem := parseRange(strings.TrimSpace(e))
		if problem != "" {
			faults = append(faults, Fault{Workers, i + 1, problem, "write local, names of hosts " +
				"of -a, their numbers counted from 1, or a range such as 2-5"})
		}
		list = append(list, positions...)
	}
	return list, faults.err()
}

func parseRange(text string) (positions []Position, problem string) {
	if text == "" {
		return nil, "is empty"
	}
	if p, ok := parsePosition(text); ok {
		return []Position{p}, ""
	}
	from, to, isRange := strings.Cut(text, "-")
	first, ok1 := parsePosition(strings.TrimSpace(from))
	last, ok2 := parsePosition(strings.TrimSpace(to))
	switch {
	case !isRange || !ok1 || !ok2 || first == Here || last == Here:
		return nil, quote(text) + " is neither local nor a host of -a nor a range of numbers"
	case first > last:
		return nil, fmt.Sprintf("the range %s ends before it begins", quote(text))
	}
	for p := first; p <= last; p++ {
		positions = append(positions, p)
	}
	return positions, ""
}

func parsePosition(text string) (Position, bool) {
	if text == LocalName {
		return Here, true
	}
	n, err := strconv.Atoi(text)
	ok := err == nil && n >= 1 && n <= maxNumber && text[0] != '+'
	return Position(n), ok
}

// Check returns what does not fit together: a host that is there twice, a position beyond the list,
// one that is there twice. Zero addresses, which ParseList leaves where an element is wrong, count
// as hosts.
func Check(hosts []Address, master Position, workers []Position) Faults {
	faults := checkTwice(hosts)
	if f, wrong := checkPosition(hosts, master); wrong {
		f.Option = Master
		faults = append(faults, f)
	}
	seen := map[Position]bool{}
	for _, p := range workers {
		f, wrong := checkPosition(hosts, p)
		if seen[p] {
			f, wrong = Fault{Problem: p.String() + " is there twice", Remedy: "remove one: a " +
				"host has one worker, with as many slots as it can use"}, true
		}
		seen[p] = true
		if wrong {
			f.Option = Workers
			faults = append(faults, f)
		}
	}
	return faults
}

func checkPosition(hosts []Address, p Position) (Fault, bool) {
	switch {
	case int(p) <= len(hosts):
		return Fault{}, false
	case len(hosts) == 0:
		return Fault{Problem: fmt.Sprintf("there is no host %d: no hosts are named", p),
			Remedy: "name them: -a host1,host2"}, true
	case len(hosts) == 1 && hosts[0] != (Address{}):
		return Fault{Problem: fmt.Sprintf("there is no host %d: one is named, %s", p, hosts[0]),
			Remedy: "write 1 or local"}, true
	}
	problem := fmt.Sprintf("there is no host %d: %d are named", p, len(hosts))
	if last := hosts[len(hosts)-1]; last != (Address{}) {
		problem += ", the last is " + last.String()
	}
	return Fault{Problem: problem, Remedy: fmt.Sprintf("write a number from 1 to %d, or local",
		len(hosts))}, true
}
