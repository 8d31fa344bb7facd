package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// ImageConfig is what an imported image says of itself.
type ImageConfig struct {
	Entrypoint []string
	Command    []string
	Dir        string
	User       string
	Env        map[string]string
	Labels     map[string]string
	Volumes    []string // folders that are volumes; made with the owner that the tar gives them
	Arch       string   // as Go has it; "": the host's
}

// ImportImage makes an image of one layer out of a tar of its files, on no base, and names it ref:
// an image with nothing in it but what was put there. Reading tar has to end when ctx does.
func (e *Engine) ImportImage(ctx context.Context, tar io.Reader, c ImageConfig, ref string) error {
	op := "import image " + ref
	if ref == "" {
		return e.fail(op, errEmptyRef)
	}
	body := send(tar, Report(nil).one())
	return e.fail(op, body.end(e.importTar(ctx, body.body, c, ref)))
}

func (e *Engine) importTar(ctx context.Context, tar io.Reader, c ImageConfig, ref string) error {
	options := image.ImportOptions{Changes: c.changes()}
	if c.Arch != "" {
		options.Platform = "linux/" + c.Arch
	}
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: tar, SourceName: "-"}, ref,
		options)
	if err != nil {
		return err
	}
	defer answer.Close()
	return messages(answer, Report(nil).one(), nil)
}

// changes are the lines of a Dockerfile that the call takes.
func (c ImageConfig) changes() (lines []string) {
	list := func(word string, items []string) {
		if len(items) > 0 {
			text, _ := json.Marshal(items) // strings
			lines = append(lines, word+" "+string(text))
		}
	}
	pairs := func(word string, of map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			lines = append(lines, fmt.Sprintf("%s %s=%s", word, name, quoted(of[name])))
		}
	}
	list("ENTRYPOINT", c.Entrypoint)
	list("CMD", c.Command)
	list("VOLUME", c.Volumes)
	pairs("ENV", c.Env)
	pairs("LABEL", c.Labels)
	if c.Dir != "" {
		lines = append(lines, "WORKDIR "+c.Dir)
	}
	if c.User != "" {
		lines = append(lines, "USER "+c.User)
	}
	return lines
}

// quoted writes a value so that a Dockerfile neither expands nor splits it.
var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`)

func quoted(value string) string { return `"` + quoting.Replace(value) + `"` }
