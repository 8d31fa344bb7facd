package main

import (
	"fmt"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// overview prints the help without its options, and which definitions there are.
func overview(ctx *cliv2.Context, t *terminal) error {
	short := *ctx.App
	short.CustomAppHelpTemplate, _, _ = strings.Cut(short.CustomAppHelpTemplate, "OPTIONS")
	_ = cliv2.ShowAppHelp(cliv2.NewContext(&short, nil, ctx))
	file, _, err := definition.Load(projectOf(ctx), site.Reserved())
	if err == nil {
		fmt.Fprintf(t.stdout, "Definitions in tasks.yml: %s\n", definitionNames(file))
	}
	fmt.Fprintln(t.stdout, "All options: run-tasks --help")
	return cli.Code(cli.Usage)
}

// onlyDefinition returns the name of the definition of a project that has no other.
func onlyDefinition(ctx *cliv2.Context) (string, error) {
	dir := projectOf(ctx)
	file, _, err := definition.Load(dir, site.Reserved())
	switch {
	case err != nil:
		return "", project.TasksFileFaults(dir, "", space.Change{}, err)
	case len(file.Tasks) == 1:
		return file.Tasks[0].Name, nil
	}
	return "", cli.Wrong("name a definition of tasks.yml: "+definitionNames(file),
		"missing argument: NAME")
}

// mostNames is how many definitions are named at most.
const mostNames = 10

// definitionNames returns the names of the definitions of a file: "run_training, test_echo".
func definitionNames(file *definition.File) string {
	var names []string
	for _, t := range file.Tasks[:min(mostNames, len(file.Tasks))] {
		names = append(names, t.Name)
	}
	if more := len(file.Tasks) - mostNames; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
