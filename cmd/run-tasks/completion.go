package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/definition"
)

// completionVariable has run-tasks print what may stand in place of its last argument, instead of
// doing anything: shells set it.
const completionVariable = "MLFRAMEWORK_COMPLETE"

// completionScripts make shells complete the command lines of run-tasks.
var completionScripts = map[string]string{
	"bash": `_run_tasks() {
	local IFS=$'\n' words
	words=$(` + completionVariable + `=1 run-tasks "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _run_tasks run-tasks
`,
	"zsh": `#compdef run-tasks
_run_tasks() {
	local -a words_
	words_=("${(@f)$(` + completionVariable + `=1 run-tasks "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	compadd -a words_ || _files
}
compdef _run_tasks run-tasks
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
		Usage:  "print a script that lets a shell complete run-tasks",
		Description: `It completes commands, options, definitions and sweeps of this machine.
For bash, put this line into ~/.bashrc; for zsh, with zsh instead of bash, into
~/.zshrc, after compinit:

   eval "$(run-tasks completion bash)"

For fish, write the script to ~/.config/fish/completions/run-tasks.fish.

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
	var named *cliv2.Command
	for _, a := range before {
		if named = app.Command(a); named != nil {
			break
		}
	}
	var words []string
	switch {
	case strings.HasPrefix(word, "-") && named != nil:
		words = optionWords(named.Flags)
	case strings.HasPrefix(word, "-"):
		words = optionWords(app.Flags)
	case named == nil:
		words = firstWords(app)
	case strings.HasPrefix(strings.TrimPrefix(named.ArgsUsage, "["), "SWEEP"):
		words = sweepWords(ctx, c)
	case named.Name == "completion":
		words = []string{"bash", "fish", "zsh"}
	}
	for _, w := range words {
		if strings.HasPrefix(w, word) {
			fmt.Fprintln(c.stdout, w)
		}
	}
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

// sweepWords are the sweeps of this machine, the newest first: a cluster would take too long.
func sweepWords(ctx context.Context, c *command) (words []string) {
	local.Use(nearestStore())
	if named := os.Getenv(storeVariable); named != "" {
		local.Use(named)
	}
	h, err := c.openFolder(ctx)
	if err != nil {
		return nil
	}
	defer h.close()
	sweeps, err := h.Sweeps(ctx, "", 0)
	if err != nil {
		return nil
	}
	for _, s := range slices.Backward(sweeps) {
		words = append(words, s.ID)
	}
	return words
}
