package guess

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostSwept is the maximum number of parameters with several values: two values each make four
// tasks.
const mostSwept = 2

// often matches names of parameters that sweeps vary, the most usual first.
var often = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(^|[._-])(lr|learning[_-]?rate)$`),
	regexp.MustCompile(`(?i)(^|[._-])(batch[_-]?size|bs)$`),
	regexp.MustCompile(`(?i)(^|[._-])(hidden|units?|width|dim|n_embd|channels|embed)`),
	regexp.MustCompile(`(?i)(^|[._-])(dropout|weight[_-]?decay|wd|l2|alpha|temperature|gamma|` +
		`momentum)$`),
	regexp.MustCompile(`(?i)(^|[._-])(n?[_-]?layers?|depth|heads?|n[_-]estimators|max[_-]depth|k)$`),
}

// seldom matches names of parameters that change how a program runs, not what it finds.
var seldom = regexp.MustCompile(`(?i)epoch|step|iter|seed|worker|thread|port|gpu|cuda|device|` +
	`interval|freq|every|log|print|save|verbose|patience|rank|world|node|timeout|test|eval`)

// length matches names of parameters for how long a program runs. They are listed with their
// default, as a first try often changes them: run-tasks train epochs=1.
var length = regexp.MustCompile(`(?i)(^|[._-])(epochs?|steps|iters|iterations)$`)

// fillIn stands for a value that only the user knows.
const fillIn = "CHANGE-ME"

// choose returns the parameters of a first sweep with their values: a few with two values, and
// those that the program needs. The others are left at their defaults.
func choose(options []Option) (chosen map[string][]string) {
	chosen = map[string][]string{}
	swept := 0
	for _, o := range byUse(options) {
		values := o.around()
		prefix := o.Name + "."
		nested := slices.ContainsFunc(options, func(other Option) bool {
			return strings.HasPrefix(other.Name, prefix) && chosen[other.Name] != nil
		})
		if len(values) > 1 && swept < mostSwept && !nested &&
			(swept == 0 || !seldom.MatchString(o.Name)) {
			chosen[o.Name] = values
			swept++
		} else if o.Required || o.place || o.Default != "" && length.MatchString(o.Name) {
			chosen[o.Name] = []string{o.start()}
		}
	}
	for _, o := range options {
		if len(chosen) == 0 && o.Default != "" {
			chosen[o.Name] = []string{o.Default}
		}
	}
	return chosen
}

// byUse sorts options by how likely a sweep varies them.
func byUse(options []Option) []Option {
	sorted := slices.Clone(options)
	slices.SortStableFunc(sorted, func(a, b Option) int { return a.use() - b.use() })
	return sorted
}

func (o Option) use() int {
	number, use := o.Type == "int" || o.Type == "float", len(often)
	if seldom.MatchString(o.Name) {
		return use + 3
	}
	for i, names := range often {
		if number && names.MatchString(o.Name) {
			return i
		}
	}
	switch {
	case len(o.Choices) > 1:
	case number:
		use++
	default:
		use += 2
	}
	return use
}

// typeOfName returns the type that the values of a parameter most likely have, by its name.
func typeOfName(name string) string {
	switch {
	case often[0].MatchString(name) || often[3].MatchString(name):
		return "float"
	case countName.MatchString(name) || often[1].MatchString(name) || often[2].MatchString(name):
		return "int"
	}
	return ""
}

var countName = regexp.MustCompile(`(?i)(^|[_-])(epochs?|steps?|seed|layers|depth)$`)

// start returns the default of an option, or a value to begin with.
func (o Option) start() string {
	switch {
	case o.Default != "":
		return o.Default
	case len(o.Choices) > 0:
		return o.Choices[0]
	case often[0].MatchString(o.Name) && o.Type == "float":
		return "0.01"
	case often[1].MatchString(o.Name) && o.Type == "int":
		return "32"
	case o.Type == "int":
		return "1"
	case o.Type == "float":
		return "0.1"
	case o.Type == "bool":
		return "true"
	}
	return fillIn
}

// around returns two values of an option, the first of which is its default; for an option that has
// no second one that makes sense, only one, or none.
func (o Option) around() []string {
	first := o.start()
	for _, c := range o.Choices {
		if c != first {
			return []string{first, c}
		}
	}
	switch o.Type {
	case "int":
		n, err := strconv.Atoi(first)
		switch {
		case err != nil || n < 0:
			return nil
		case n < 2 || strings.Contains(o.Name, "seed"):
			return []string{first, strconv.Itoa(n + 1)}
		}
		return []string{first, strconv.Itoa((n + 1) / 2)}
	case "float":
		f, err := strconv.ParseFloat(first, 64)
		switch mantissa, exponent, has := strings.Cut(first, "e-"); {
		case err != nil || f < 0:
			return nil
		case has && often[0].MatchString(o.Name):
			n, _ := strconv.Atoi(exponent)
			return []string{first, mantissa + "e-" + strconv.Itoa(n+1)}
		case often[0].MatchString(o.Name):
			return []string{first, number(f / 10)}
		case f == 0:
			return []string{first, "0.1"}
		}
		return []string{first, number(f / 2)}
	case "bool":
		return []string{"true", "false"}
	}
	return nil
}

// number writes a number with at most six digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
