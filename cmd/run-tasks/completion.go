package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// completionVariable has run-tasks print what may stand in place of its last argument, instead of
// doing anything: shells set it.
const completionVariable = "MLFRAMEWORK_COMPLETE"

// completionScripts make shells complete the command lines of run-tasks.
var completionScripts = map[string]string{
	"bash": `_run_tasks() {
	local word
	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("$word")
		[[ $word != *[=/] ]] || compopt -o nospace 2>/dev/null
	done < <(` + completionVariable + `=1 run-tasks "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _run_tasks run-tasks
`,
	"zsh": `#compdef run-tasks
_run_tasks() {
	local -a words_
	words_=("${(@f)$(` + completionVariable + `=1 run-tasks "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	compadd -a words_ || _files
}
if [[ ${funcstack[1]} == _run-tasks ]]; then # loaded from fpath
	_run_tasks
else
	compdef _run_tasks run-tasks
fi
`,
	"fish": `function __run_tasks
	set -l words (commandline -opc) (commandline -ct)
	` + completionVariable + `=1 run-tasks $words[2..] 2>/dev/null
end
complete -c run-tasks -a '(__run_tasks)'
`,
}

func completionCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "completion", ArgsUsage: "bash|zsh|fish",
		Action: func(ctx *cliv2.Context) error { return printCompletion(ctx, &c.terminal) },
		Usage:  "print a shell completion script",
		Description: `Completes commands, options, definitions and their parameters, and the sweeps,
tasks and columns on this machine.

The installer puts the scripts where bash-completion and fish find them. For
zsh, add ~/.local/share/zsh/site-functions to fpath before running compinit.
Without bash-completion, add this line to ~/.bashrc:

   eval "$(run-tasks completion bash)"

EXAMPLES:
   run-tasks completion fish > run-tasks.fish`}
}

// printCompletion is `run-tasks completion`.
func printCompletion(ctx *cliv2.Context, t *terminal) error {
	shell, err := argument(ctx)
	if err != nil {
		return err
	}
	script, ok := completionScripts[shell]
	if !ok {
		return cli.Wrong("run-tasks completion bash, zsh or fish", "there is no completion for %q", shell)
	}
	_, err = fmt.Fprint(t.stdout, script)
	return err
}

// completeTime bounds how long a person waits for a completion.
const completeTime = time.Second

// complete prints what may stand in place of the last of the arguments, a word on each line.
func (c *command) complete(ctx context.Context, args []string) {
	ctx, stop := context.WithTimeout(ctx, completeTime)
	defer stop()
	if len(args) == 0 || slices.Contains(args[:len(args)-1], "--") {
		return
	}
	app, word, before := c.app(), args[len(args)-1], args[:len(args)-1]
	for _, w := range c.candidates(ctx, app, word, before) {
		if strings.HasPrefix(w, word) && plainWord.MatchString(w) {
			fmt.Fprintln(c.stdout, w)
		}
	}
}

// plainWord matches words that no shell takes for more than text.
var plainWord = regexp.MustCompile(`^[\w./:=,@%+-]+$`)

// columnOptions are the options whose values are columns of results.
var columnOptions = []string{"--sort", "--group-by", "--metrics", "--metric"}

// candidates returns what may stand in place of a word behind others.
func (c *command) candidates(ctx context.Context, app *cliv2.App, word string,
	before []string) []string {
	var named *cliv2.Command
	behind := ""                     // the first argument of the command
	flags, value := app.Flags, false // whether a word is the value of the option before it
	for _, a := range before {
		switch {
		case value:
			value = false
		case strings.HasPrefix(a, "-"):
			value = !strings.Contains(a, "=") && takesValue(flags, strings.TrimLeft(a, "-"))
		case named == nil && app.Command(a) != nil:
			named = app.Command(a)
			flags = named.Flags
		case behind == "":
			behind = a
		}
	}
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	switch {
	case last == "--as":
		return definition.Forms
	case slices.Contains(columnOptions, last) && named != nil:
		return columnWords(ctx, c, behind)
	case strings.HasPrefix(word, "-") && named != nil:
		return optionWords(named.Flags)
	case strings.HasPrefix(word, "-"):
		return optionWords(app.Flags)
	case named == nil && behind != "":
		return parameterWords(behind)
	case named == nil:
		return firstWords(app)
	case strings.Contains(word, "/"):
		return taskWords(ctx, c, word)
	case strings.HasPrefix(strings.TrimLeft(named.ArgsUsage, "["), "SWEEP") ||
		strings.HasPrefix(named.ArgsUsage, "TASK") || named.Name == "compare":
		return sweepWords(ctx, c)
	case named.Name == "completion":
		return []string{"bash", "fish", "zsh"}
	}
	return nil
}

// takesValue reports whether an option of some has a value.
func takesValue(flags []cliv2.Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f cliv2.Flag) bool {
		_, isSwitch := f.(*cliv2.BoolFlag)
		return slices.Contains(f.Names(), name) && !isSwitch
	})
}

func optionWords(flags []cliv2.Flag) (words []string) {
	for _, f := range flags {
		if name := f.Names()[0]; len(name) > 1 {
			words = append(words, "--"+name)
		} else {
			words = append(words, "-"+name)
		}
	}
	return words
}

// firstWords are the commands, and the definitions of the project.
func firstWords(app *cliv2.App) (words []string) {
	if file, _, err := definition.Load(nearest(hasProject), site.Reserved()); err == nil {
		for _, t := range file.Tasks {
			words = append(words, t.Name)
		}
	}
	for _, sub := range app.VisibleCommands() {
		words = append(words, sub.Name)
	}
	return words
}

// parameterWords are the parameters of a definition, as words that set them.
func parameterWords(name string) (words []string) {
	p, err := project.Read(nearest(hasProject), name, space.Change{})
	if err != nil {
		return nil
	}
	for _, name := range project.NamesOf(p.Space) {
		words = append(words, name+"=")
	}
	return words
}

// sweepWords are the sweeps of this machine, the newest first.
func sweepWords(ctx context.Context, c *command) (words []string) {
	storeWords(ctx, c, func(h *localFolder) {
		sweeps, err := h.Sweeps(ctx, "", 0)
		if err != nil {
			return
		}
		for _, s := range slices.Backward(sweeps) {
			words = append(words, s.ID)
		}
	})
	return words
}

// mostTaskWords is how many tasks are offered at most.
const mostTaskWords = 200

// taskWords are tasks of the sweep whose name a word begins with.
func taskWords(ctx context.Context, c *command, word string) (words []string) {
	id, _, _ := strings.Cut(word, "/")
	storeWords(ctx, c, func(h *localFolder) {
		page, err := h.Tasks(ctx, id, api.Query{Limit: mostTaskWords})
		if err != nil {
			return
		}
		for _, r := range page.Tasks {
			words = append(words, r.ID)
		}
	})
	return words
}

// columnWords are the columns of results of a sweep; "": of the newest.
func columnWords(ctx context.Context, c *command, sweep string) (words []string) {
	storeWords(ctx, c, func(h *localFolder) {
		if s, err := sweepOf(ctx, h, sweep, false); err == nil {
			words = s.Record.Schema().Names()
		}
	})
	return words
}

// storeWords lets find look in the store of this machine: a cluster would take too long.
func storeWords(ctx context.Context, c *command, find func(*localFolder)) {
	local.Use(nearestStore())
	if named := os.Getenv(storeVariable); named != "" {
		local.Use(named)
	}
	h, err := c.openFolder(ctx)
	if err != nil {
		return
	}
	defer h.close()
	find(h)
}
