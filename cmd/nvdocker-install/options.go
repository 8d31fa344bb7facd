package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/host"
	"mlframework/nvdocker/install"
)

// request is the parsed command line.
type request struct {
	hosts             []host.Address
	dryRun, yes, json bool
	options           install.Options
}

// mostKey bounds the file of a key, in bytes: NVIDIA's has 2 kB.
const mostKey = 1 << 20

// read reads the command line.
func read(ctx *cliv2.Context) (w request, err error) {
	w = request{dryRun: ctx.Bool("dry-run"), yes: ctx.Bool("yes"), json: ctx.Bool("json"),
		options: install.Options{Source: ctx.String("source"), Driver: ctx.Bool("driver")}}
	if ctx.NArg() == 0 {
		return w, cli.Wrong("nvdocker-install [USER@]HOST..., as in nvdocker-install --dry-run "+
			"anna@gpu1 anna@gpu2", "no host is named")
	}
	for _, text := range strings.Split(strings.Join(ctx.Args().Slice(), ","), ",") {
		a, err := host.Parse(text)
		if err != nil {
			return w, cli.Wrong("a host is [USER@]NAME[:PORT]; several are separated by spaces "+
				"or commas", "%w", err)
		}
		if slices.ContainsFunc(w.hosts,
			func(b host.Address) bool { return a.Normal() == b.Normal() }) {
			return w, cli.Wrong("name it once", "%s is named twice", text)
		}
		w.hosts = append(w.hosts, a)
	}
	if w.options.Key, err = key(ctx.String("source-key"), ctx.IsSet("source")); err != nil {
		return w, err
	}
	return w, checkSource(w.options, ctx.IsSet("source"))
}

// key reads the file of a key.
func key(file string, source bool) ([]byte, error) {
	switch {
	case file == "":
		return nil, nil
	case !source:
		return nil, cli.Wrong("name the mirror with --source URL",
			"--source-key is for the packages of a mirror")
	}
	info, err := os.Stat(file)
	if err == nil && (info.IsDir() || info.Size() == 0 || info.Size() > mostKey) {
		err = fmt.Errorf("%s is not a key: it has %d bytes", file, info.Size())
	}
	if err != nil {
		return nil, cli.Wrong("name a file that `gpg --export` wrote", "%w", err)
	}
	return os.ReadFile(file)
}

// checkSource refuses what would not be an address in a line of apt's, and a key that anybody on
// the way may have changed.
func checkSource(o install.Options, given bool) error {
	if !given {
		return nil
	}
	u, err := url.Parse(o.Source)
	if err != nil || !slices.Contains([]string{"http", "https", "file"}, u.Scheme) ||
		u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
		strings.ContainsAny(o.Source, " \t\r\n'\"\\$[]`") ||
		u.Scheme != "file" && u.Host == "" || u.Scheme == "file" && !strings.HasPrefix(u.Path,
		"/") {
		return cli.Wrong("write https://HOST/PATH, http://HOST/PATH or file:///PATH",
			"--source %q is not an address of packages", o.Source)
	}
	if u.Scheme == "http" && o.Key == nil {
		return cli.Wrong("name the mirror's key with --source-key FILE, or use https",
			"over http the key of %s could be anybody's", o.Source)
	}
	return nil
}
