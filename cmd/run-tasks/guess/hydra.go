package guess

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// hydra returns the parameters in the configuration of a program of Hydra: the numbers and texts of
// its main file and of the files that its defaults choose, and the groups of these files.
func hydra(project fs.FS, dir string, main call) (options []Option) {
	at := func(index int, name string) string {
		text := main.named[name]
		if text == "" && index < len(main.positional) {
			text = main.positional[index]
		}
		value, _ := literal(text)
		return value
	}
	folder, name := at(0, "config_path"), at(1, "config_name")
	if name == "" {
		return nil
	}
	folder = path.Join(dir, cmp.Or(folder, "."))
	root := document(project, path.Join(folder, strings.TrimSuffix(name, ".yaml")+".yaml"))
	for key, value := range entries(root) {
		switch key {
		case "hydra":
		case "defaults":
			for _, chosen := range value.Content {
				for group, file := range entries(chosen) {
					options = append(options, hydraGroup(project, folder, group, file.Value)...)
				}
			}
		default:
			options = append(options, flatten(key, value)...)
		}
	}
	return options
}

// hydraGroup returns the parameter that chooses a file of a group, and those in the chosen file.
func hydraGroup(project fs.FS, folder, group, chosen string) (options []Option) {
	if !word.MatchString(group) {
		return nil // override hydra/launcher, optional db, db@backup
	}
	files, err := fs.Glob(project, path.Join(folder, group, "*.yaml"))
	if err != nil {
		return nil
	}
	o := Option{Name: group, Type: "str", Default: chosen}
	for _, file := range files {
		o.Choices = append(o.Choices, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	if slices.Contains(o.Choices, chosen) {
		file := path.Join(folder, group, chosen+".yaml")
		if !strings.Contains(read(project, file), "@package") {
			options = flatten(group, document(project, file))
		}
	}
	return append(options, o)
}

// flatten returns the numbers and texts in a mapping, named for their keys with dots.
func flatten(name string, n *yaml.Node) (options []Option) {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.MappingNode {
		for key, value := range entries(n) {
			if key != "defaults" {
				options = append(options, flatten(name+"."+key, value)...)
			}
		}
		return options
	}
	kind := map[string]string{"!!int": "int", "!!float": "float", "!!str": "str",
		"!!bool": "bool"}[n.Tag]
	o := Option{Name: name, Type: kind, Default: n.Value}
	if n.Value == "???" {
		o.Default, o.Required = "", true
	}
	if kind == "" || strings.ContainsAny(n.Value, "$\n") || !word.MatchString(name) ||
		path.Ext(name) == "._target_" {
		return nil
	}
	return []Option{o}
}

// document returns the root of a YAML file, nil if it cannot be read.
func document(project fs.FS, file string) *yaml.Node {
	documents, fault := yamlfile.Read(read(project, file), 1)
	if fault != nil || len(documents) == 0 || len(documents[0].Content) == 0 {
		return nil
	}
	return documents[0].Content[0]
}

// entries yields the keys and values of a mapping; any other node has none.
func entries(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}
