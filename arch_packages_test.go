package mlframework_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this project, and root the package in its folder.
const (
	module = "mlframework"
	root   = "."
)

// pkg is the Go files of one folder, whatever system they are for.
type pkg struct {
	path    string // below the module
	name    string
	doc     string
	imports map[string]bool // of its files
	tests   map[string]bool // of its tests
}

// readPackages parses every Go file, not only those of this system: a file for darwin crosses
// layers just as well.
func readPackages(t *testing.T) []*pkg {
	t.Helper()
	all := map[string]*pkg{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch hidden := d != nil && d.Name() != root && strings.HasPrefix(d.Name(), "."); {
		case err != nil:
			return err
		case d.IsDir() && (hidden || d.Name() == "testdata" || file == "bin" || file == "outputs"):
			return fs.SkipDir
		case d.IsDir() || hidden || !strings.HasSuffix(file, ".go"):
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		if all[dir] == nil {
			all[dir] = &pkg{path: dir, imports: map[string]bool{}, tests: map[string]bool{}}
		}
		return all[dir].add(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, root) // these tests
	if len(all) == 0 {
		t.Fatal("no packages found")
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *pkg) int {
		return strings.Compare(a.path, b.path)
	})
}

func (p *pkg) add(file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil,
		parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	into := p.imports
	if strings.HasSuffix(file, "_test.go") {
		into = p.tests
	} else {
		p.name = f.Name.Name
		p.doc += docText(f.Doc)
	}
	for _, i := range f.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		into[imported] = true
	}
	return nil
}

func docText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return doc.Text()
}

// inModule picks the packages of this project, without the module's path.
func inModule(imports map[string]bool) (own []string) {
	for i := range imports {
		if below, ok := strings.CutPrefix(i, module+"/"); ok {
			own = append(own, below)
		}
	}
	slices.Sort(own)
	return own
}

// within tells whether a package is a folder or stands below it.
func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }
