// Package guess reads the scripts of a project and writes a tasks.yml and a parameters.yml to begin
// with. It guesses which script is the program, which parameters it takes and how, and which
// metrics it prints. It runs nothing, and leaves out what it cannot read.
package guess

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Program is a script, and what it says about how it is run.
type Program struct {
	Path    string // in the project, with slashes
	Library string // argparse, click, absl, hydra, argv, shell; "": no parameters were found
	Options []Option
	Metrics []Metric // the best to rank by first
	// Incomplete reports that the program takes parameters that this package cannot read, such as
	// those of subcommands.
	Incomplete bool
	several    []string // options that take several words
	shell      string   // what runs a shell script
	module     bool     // it belongs to a package, and imports from it
	variables  bool     // its parameters are variables of the environment
	text       string
}

const (
	maxSize  = 1 << 20 // of a script, in bytes
	maxFiles = 1000    // of a folder and those in it
)

// Programs returns the programs of a project, the one that is most likely meant first. Those in
// folders count only if the project's own folder has none, and so do shell scripts.
func Programs(project fs.FS) []Program {
	for _, pattern := range []string{"*.py", "*/*.py", "*.sh", "*/*.sh"} {
		files, err := fs.Glob(project, pattern)
		if err != nil {
			continue
		}
		var found []Program
		for _, file := range files[:min(len(files), maxFiles)] {
			if p := Read(project, file); p.isProgram() {
				found = append(found, p)
			}
		}
		slices.SortStableFunc(found, func(a, b Program) int {
			return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Path, b.Path))
		})
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

var (
	mainGuard = regexp.MustCompile(`(?m)^if\s+__name__\s*==`)
	hydraMain = regexp.MustCompile(`@hydra\.main\s*\(|@main\s*\(`)
	clickMain = regexp.MustCompile(`@(?:click\.)?(?:command|group)\s*\(`)
	// a script without a function that parses its command line
	parsesAtTop = regexp.MustCompile(`(?m)^\w.*\.parse_(?:known_)?args\s*\(`)
	unreadable  = regexp.MustCompile(`\.add_subparsers\s*\(|@(?:click\.)?group\s*\(|` +
		`\bHfArgumentParser\b|(?m)^\s*(?:import|from)\s+(?:fire|typer|tyro|simple_parsing|jsonargparse)\b`)
	relative  = regexp.MustCompile(`(?m)^from\s+\.`)
	localName = regexp.MustCompile(`(?m)^(?:from|import)\s+(\w+)`)
)

// Read reads one script of a project.
func Read(project fs.FS, file string) Program {
	p := Program{Path: file, text: read(project, file)}
	if path.Ext(file) != ".py" {
		p.Library, p.shell = "shell", "bash"
		if line, _, _ := strings.Cut(p.text, "\n"); strings.HasSuffix(line, "/sh") {
			p.shell = "sh"
		}
		p.Options, p.variables = shell(p.text)
		return p
	}
	s := newSource(p.text)
	p.module = relative.MatchString(s.mask)
	p.Metrics = metricsOf(s)
	if at := hydraMain.FindStringIndex(s.mask); at != nil && strings.Contains(s.mask, "hydra") {
		p.Library = "hydra"
		p.Options = hydra(project, path.Dir(file), s.calls(hydraMain)[0])
		return p
	}
	p.Incomplete = unreadable.MatchString(s.mask)
	if p.readOptions(s); p.Library == "" { // a module of the project may read the command line
		for _, m := range localName.FindAllStringSubmatch(s.mask, -1) {
			module := newSource(read(project, path.Join(path.Dir(file), m[1]+".py")))
			if !mainGuard.MatchString(module.mask) { // else it is a program with options of its own
				p.readOptions(module)
			}
			if p.Library != "" {
				break
			}
		}
	}
	if p.Incomplete {
		p.Options = nil
	}
	return p
}

// readOptions reads the options that a source declares, with the library that it uses.
func (p *Program) readOptions(s source) {
	for _, l := range []struct {
		name string
		read func() []Option
	}{{"argparse", s.argparse}, {"click", s.click}, {"absl", s.absl}, {"argv", s.argv}} {
		if options := l.read(); len(options) > 0 {
			p.Library = l.name
			for _, o := range options {
				if o.several {
					p.several = append(p.several, o.Name)
				} else {
					p.Options = append(p.Options, o)
				}
			}
			return
		}
	}
}

// read returns the text of a file, "" if it cannot be read or is large.
func read(project fs.FS, file string) string {
	info, err := fs.Stat(project, file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
		return ""
	}
	text, err := fs.ReadFile(project, file)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// otherScripts matches names of scripts that are no programs to sweep.
var otherScripts = regexp.MustCompile(`^(setup|conftest|test_.*|.*_test|noxfile|tasks|__init__|` +
	`install|build|release|download.*)\.(py|sh)$`)

// isProgram reports whether a script is one that people run.
func (p *Program) isProgram() bool {
	name := path.Base(p.Path)
	switch {
	case p.text == "" || otherScripts.MatchString(name) ||
		strings.HasPrefix(path.Dir(p.Path), "test"):
		return false
	case p.shell != "" || p.Library == "hydra":
		return true
	}
	s := newSource(p.text)
	return mainGuard.MatchString(s.mask) || clickMain.MatchString(s.mask) ||
		parsesAtTop.MatchString(s.mask) || strings.Contains(s.mask, "sys.argv") ||
		programName.MatchString(name)
}

// programName matches names of scripts that train, the likeliest first.
var programName = regexp.MustCompile(`^(train|main|run|finetune|fit|experiment)`)

// rank orders programs: small ones are more likely what a sweep is to run.
func (p *Program) rank() int {
	rank := 0
	switch name := programName.FindString(path.Base(p.Path)); name {
	case "train":
	case "":
		rank = 4
	default:
		rank = 2
	}
	if p.Library == "" {
		rank++
	}
	return rank
}

// Command returns the words of the command that runs the program. A parameter that is passed by its
// place is its name in braces.
func (p *Program) Command() []string {
	words := []string{"python3", "-u", p.Path}
	switch {
	case p.shell != "":
		words = []string{p.shell, p.Path}
	case p.module && path.Dir(p.Path) != ".":
		words = []string{"python3", "-u", "-m",
			strings.ReplaceAll(strings.TrimSuffix(p.Path, ".py"), "/", ".")}
	case p.Library == "hydra":
		words = append(words, "hydra.run.dir=.")
	}
	for _, o := range p.Options {
		if o.place {
			words = append(words, "{"+o.Name+"}")
		}
	}
	return words
}
