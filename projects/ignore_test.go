package projects_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/projects"
)

func TestOwnRulesBeforeGit(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		".gitignore":         "data/\n*.log\nmodel\nbuild/*\n",
		".mlframeworkignore": "!data/\nnotes.md\n!/model\n",
		"notes.md":           "", "run.log": "",
		"data/.gitignore": "*\n!x\n", "data/x": "", "data/y": "", "data/.mlframeworkignore": "!y\n",
		"model": "", "sub/model": "", "build/a": "", "build/b": "",
		"sub/.mlframeworkignore": "/inner\n", "sub/inner": "",
		"sub/deep/inner": "",
	})
	want := []string{
		".gitignore", ".mlframeworkignore", "build", "data", "data/x", "data/y", "model", "sub",
		"sub/.mlframeworkignore", "sub/deep",
		"sub/deep/inner",
	}
	m := scan(t, dir)
	if diff := cmp.Diff(want, paths(m)); diff != "" {
		t.Error(diff)
	}
	left := []projects.LeftOut{
		{Path: "build/a", File: ".gitignore", Unless: "!build/*"},
		{Path: "build/b", File: ".gitignore", Unless: "!build/*"},
		{Path: "notes.md", File: ".mlframeworkignore", Unless: "!notes.md"},
		{Path: "run.log", File: ".gitignore", Unless: "!*.log"},
		{Path: "sub/inner", File: "sub/.mlframeworkignore", Unless: "!/sub/inner"},
		{Path: "sub/model", File: ".gitignore", Unless: "!model"},
	}
	if diff := cmp.Diff(left, m.LeftOut); diff != "" {
		t.Error(diff)
	}
	listed, err := projects.List(t.Context(), dir)
	check(t, err)
	if diff := cmp.Diff(want, paths(listed)); diff != "" {
		t.Error(diff)
	}
}

// The line that brings in what a rule for everything leaves out names only that.
func TestRuleForEverything(t *testing.T) {
	t.Parallel()
	m := scan(t, plant(t, tree{".gitignore": "*\n!*.py\n", "main.py": "", "data.csv": "", "out/x": ""}))
	var lines []string
	for _, l := range m.LeftOut {
		lines = append(lines, l.Unless)
	}
	if diff := cmp.Diff([]string{"!/data.csv", "!/out"}, lines); diff != "" {
		t.Error(diff)
	}
}

// TestRulesAbove: in a git repository the rules of the folders above count, up to the repository's
// root.
func TestRulesAbove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		around tree
		left   []projects.LeftOut
	}{
		"none":               {around: tree{"repo/.git/": ""}},
		"no repository":      {around: tree{"repo/.gitignore": "*.bin\n", ".gitignore": "*"}},
		"outside repository": {around: tree{".gitignore": "*.bin\n", "repo/sub/.git/": ""}},
		"own repository": {around: tree{"repo/.git/": "", "repo/.gitignore": "*.bin\n",
			"repo/sub/p/.git/": ""}},
		"by name": {around: tree{"repo/.git/": "", "repo/.gitignore": "*.bin\n"},
			left: []projects.LeftOut{{Path: "a.bin", File: "../../.gitignore", Unless: "!*.bin"}}},
		"a linked worktree": {around: tree{"repo/.git": "gitdir: elsewhere\n",
			"repo/sub/.gitignore": "/p/*.bin\n"},
			left: []projects.LeftOut{{Path: "a.bin", File: "../.gitignore", Unless: "!/a.bin"}}},
		"by path": {around: tree{"repo/.git/": "", "repo/.gitignore": "/sub/p/data/\n/p/main.py\n"},
			left: []projects.LeftOut{{Path: "data", Folder: true, File: "../../.gitignore",
				Unless: "!/data"}}},
		"the nearer wins": {around: tree{"repo/.git/": "",
			"repo/.gitignore": "*.bin\n", "repo/sub/.gitignore": "!a.bin\n"}},
		"the project's own wins": {around: tree{"repo/.git/": "",
			"repo/.gitignore": "*.bin\n", "repo/sub/p/.mlframeworkignore": "!*.bin\n"}},
		"the project itself left out": {around: tree{"repo/.git/": "", "repo/.gitignore": "*\n"}},
		"a folder above it left out": {around: tree{"repo/.git/": "",
			"repo/.gitignore": "/sub/\n*.bin\n"}},
		"left out by what lies between": {around: tree{"repo/.git/": "", "repo/.gitignore": "!*\n",
			"repo/sub/.gitignore": "p\n*.bin\n"}},
		"a link is not read": {around: tree{"repo/.git/": "", "repo/rules": "*.bin\n",
			"repo/.gitignore": "->rules"}},
		".git/info/exclude is not read": {around: tree{"repo/.git/info/exclude": "*.bin\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(test.around)
			maps.Copy(files, tree{"repo/sub/p/main.py": "", "repo/sub/p/a.bin": "",
				"repo/sub/p/data/x": ""})
			m := scan(t, filepath.Join(plant(t, files), "repo/sub/p"))
			if diff := cmp.Diff(test.left, m.LeftOut); diff != "" {
				t.Error(diff)
			}
			if !slices.Contains(paths(m), "main.py") {
				t.Errorf("the project holds %q", paths(m))
			}
		})
	}
}

func TestRulesFileThatIsALinkOrFolder(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"rules": "x\n", ".gitignore": "->rules", ".mlframeworkignore/x": "",
		"x": ""})
	if got := paths(scan(t, dir)); !slices.Contains(got, "x") {
		t.Errorf("%q: x was left out by what is no rules file", got)
	}
}

// TestIgnoreLine: the line that an error advises leaves out that path and no other.
func TestIgnoreLine(t *testing.T) {
	t.Parallel()
	files := tree{}
	for _, name := range []string{"a", "sub/a", "*", "[a]", `b\`, "!c", "#d", " e", "f ", "f  ",
		"two\nlines", "g\r", "?", "h\xff", "ä", "'\"", "a*"} {
		files[name] = ""
	}
	for name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rest := maps.Clone(files)
			rest[".mlframeworkignore"] = projects.IgnoreLine(name) + "\n"
			got := paths(scan(t, plant(t, rest)))
			// all but name, and the folder sub
			if slices.Contains(got, name) || len(got) != len(rest) {
				t.Errorf("line %q leaves %q", rest[".mlframeworkignore"], got)
			}
		})
	}
}

// TestRulesAsGit compares random rules on random trees, and a list of well-known traps, with `git
// check-ignore`.
func TestRulesAsGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test compares with git, which is not installed: install git")
	}
	top := inMemory(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for i, rules := range traps {
		plantIn(t, filepath.Join(top, fmt.Sprintf("trap%d", i)), trapTree(rules))
	}
	cases := 300
	if testing.Short() {
		cases = 50
	}
	for i := range cases {
		plantIn(t, filepath.Join(top, fmt.Sprintf("case%d", i)), randomTree(r))
	}
	ignored := gitIgnored(t, top)
	folders, err := os.ReadDir(top)
	check(t, err)
	below := 0
	for _, folder := range folders {
		if folder.Name() == ".git" {
			continue
		}
		dir := filepath.Join(top, folder.Name())
		var want []string
		for _, path := range everything(t, dir) {
			if !ignored[folder.Name()+"/"+path] {
				want = append(want, path)
			}
		}
		if diff := cmp.Diff(want, paths(scan(t, dir))); diff != "" {
			t.Errorf("seed %d: -git +ours\n%s%s", seed, diff, rulesIn(t, dir))
		}
		below += comparedBelow(t, top, dir, ignored)
	}
	if below < cases {
		t.Errorf("seed %d: only %d projects in subfolders were compared", seed, below)
	}
}

// comparedBelow compares every folder below dir as a project of its own, unless git leaves that
// folder out, and returns how many.
func comparedBelow(t *testing.T, top, dir string, ignored map[string]bool) (n int) {
	t.Helper()
	for _, path := range everything(t, dir) {
		project := filepath.Join(dir, path)
		info, err := os.Lstat(project)
		check(t, err)
		inTop, err := filepath.Rel(top, project)
		check(t, err)
		if !info.IsDir() || ignored[inTop] {
			continue
		}
		var want []string
		for _, path := range everything(t, project) {
			if !ignored[inTop+"/"+path] {
				want = append(want, path)
			}
		}
		if diff := cmp.Diff(want, paths(scan(t, project))); diff != "" {
			t.Errorf("%s: -git +ours\n%s%s", inTop, diff, rulesIn(t, dir))
		}
		n++
	}
	return n
}

// inMemory is a temporary folder without a disk below it where there is one: the test makes ten
// thousand files.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "mlframework-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// traps are rules whose reading differs between implementations.
var traps = []string{
	"a", "/a", "a/", "/a/", "a/b", "/a/b", "a/*", "a/**", "**/a", "**/a/b", "a/**/b", "a**", "a**b",
	"**a", "*a/b", "a/*/b", "a/b**/c",
	"a/**\n!a/b", "a/**/*\n!a/b", "a/*\n!a/b", "a\n!a/b", "*\n!*/\n!b", "/*\n!/a\n/a/*\n!/a/b",
	"*\n!a/", "!a\na", "a\n!a", "a*\n!ab/",
	"**", "/**", "**/", "/", "//", "///", "!", "!/", "\\", "a\\", "\\a", "[", "[a", "[]a]", "[!a]",
	"[^a]", "[a-b]", "[b-a]", "[a-]", "[-a]",
	"[\\a]", "[[:alpha:]]", "[[:nope:]]", "[[:alpha:]", "[[:]", "[a-[:alpha:]]", "[!]a]", "[]-b]",
	"a[/]b", "a[!x]b", "?", "??", "a?b",
	"*b", "*.x", "*?", "?*", "***", "a/***", "a/***/b", "a/**b", "a/b**", "\\*", "\\!a", "\\#",
	"#a", "a ", "a\\ ", "a b", "a  ", " a", "a\t",
	"a\r", "a\r\nb", "\xef\xbb\xbfa", "a\x00b", "\xff", "é", "[é]", "?\xa9", "a/b/", "*/b", "*/*/b",
	"**/**/b", "a/**/**/b", "a/\\b", "a\\/b",
	"a/**\\/b", "**\\/b", ".*", "!.*", "*\n!.gitignore", "a/**/", "**/b/**", "/**/b", "a//b", "./a",
	"a/.", "../a", "a/../b", "ab*/", "!ab\n*",
}

func trapTree(rules string) tree {
	return tree{
		".gitignore": rules,
		"a/b/c":      "", "a/b/a": "", "a/c": "", "a/x/b": "", "a/x/y/b": "", "a/bx/y/c": "",
		"b/a": "", "c/a/b": "", "c/b": "", "ab/x": "",
		"ab/b": "", "axb": "", "a.x": "", "a b": "", "a ": "", " a": "", "#": "", "#a": "",
		"!a": "", "!": "", "*": "", "[a]": "", "]": "", "-": "",
		`\`: "", "\xff": "", "é": "", ".b": "", "x\n": "", "e/": "", "A": "", "1": "", "a\t": "",
		"a\r": "", "bb/b/b": "", "[": "",
	}
}

// randomTree is a small tree with rules at the top and below; names and patterns are made of the
// same few letters.
func randomTree(r *rand.Rand) tree {
	letters := []string{"a", "b", "c", "ab", "x", "a.x", "-", "é", "b c", "*", "[a]"}
	files := tree{}
	for range 4 + r.IntN(10) {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, letters[min(r.IntN(len(letters)), r.IntN(len(letters)))]+pick(r,
				"", "", "", "b"))
		}
		addPath(files, parts)
	}
	var lines []string
	for range 1 + r.IntN(6) {
		lines = append(lines, randomPattern(r))
	}
	files[".gitignore"] = strings.Join(lines, "\n") + pick(r, "", "\n", "\r\n")
	for name := range maps.Clone(files) {
		if i := strings.LastIndexByte(name, '/'); i > 0 && r.IntN(4) == 0 {
			files[name[:i]+"/.gitignore"] = randomPattern(r) + "\n" + randomPattern(r)
		}
	}
	return files
}

// addPath adds a file unless one of its folders is a file, or it a folder.
func addPath(files tree, parts []string) {
	path := strings.Join(parts, "/")
	for other := range files {
		if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			return
		}
	}
	files[path] = ""
}

func randomPattern(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(pick(r, "", "", "", "!", "!", "/", "!/", "**/"))
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString(pick(r, "/", "/", "/", "", "/**/"))
		}
		b.WriteString(pick(r, "a", "b", "ab", "*", "*", "**", "?", "a*", "*b", "[ab]", "[!a]",
			"[a-c]", "x", "a.x", `\a`, `\*`, "b**", "[[:lower:]]", "[]a]", "[a"))
	}
	b.WriteString(pick(r, "", "", "", "", "/", "/*", "/**", " ", `\ `))
	return b.String()
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// everything lists the paths below dir, sorted.
func everything(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			all = append(all, path[len(dir)+1:])
		}
		return err
	}))
	slices.Sort(all)
	return all
}

// gitIgnored asks git about every path below top, of which it makes a repository.
func gitIgnored(t *testing.T, top string) map[string]bool {
	t.Helper()
	all := strings.Join(everything(t, top), "\x00") + "\x00"
	runGit(t, top, "", "init", "-q")
	ignored := map[string]bool{}
	out := runGit(t, top, all, "check-ignore", "-z", "--stdin", "--no-index")
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[path] = true
	}
	return ignored
}

// runGit runs git in a folder, without settings of a user or the machine.
func runGit(t *testing.T, dir, input string, args ...string) []byte {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", dir}, args...)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // those of a hook, too
		return strings.HasPrefix(v, "GIT_")
	})
	command.Env = append(command.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME=/nonexistent")
	command.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, &stderr)
	}
	return out
}

func rulesIn(t *testing.T, dir string) string {
	var b strings.Builder
	for _, path := range everything(t, dir) {
		if filepath.Base(path) == ".gitignore" {
			data, err := os.ReadFile(filepath.Join(dir, path))
			check(t, err)
			fmt.Fprintf(&b, "%s: %q\n", path, data)
		}
	}
	return b.String()
}

// TestTracked reads indexes as git writes them: of all versions, and where .git is a file.
func TestTracked(t *testing.T) {
	t.Parallel()
	files := tree{".gitignore": "*.bin\ndata/\n", "a.bin": "", "data/x": "", "data/deep/kept": "",
		"data/deep/keptt": "", "kept/a.bin": "", "kept/" + strings.Repeat("long/", 30) + "a.bin": ""}
	prepare := []string{"init", "add -f kept data/deep/kept", "commit -qm x"}
	for name, test := range map[string]struct {
		commands []string
		project  string
	}{
		"version 2":       {prepare, ""},
		"version 3":       {append(prepare, "update-index --skip-worktree data/deep/kept"), ""},
		"version 4":       {append(prepare, "update-index --index-version 4"), ""},
		"SHA-256":         {append([]string{"init --object-format=sha256"}, prepare[1:]...), ""},
		"linked worktree": {append(prepare, "worktree add -q ../other"), "../other"},
		"project below": {[]string{"init ..", "-C .. add -f p/kept p/data/deep/kept",
			"-C .. commit -qm x"}, ""},
		"repository within": {[]string{"init -q ..", "init", "-C .. add -f p/data/x",
			"add -f kept data/deep/kept", "commit -qm x"}, ".."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(plant(t, tree{"p/": ""}), "p")
			plantIn(t, dir, files)
			for _, args := range test.commands {
				runGit(t, dir, "", strings.Fields("-c user.name=x -c user.email=x "+args)...)
			}
			m := scan(t, filepath.Join(dir, test.project))
			var got []string
			for _, e := range m.Entries {
				if e.Kind == projects.File && filepath.Base(e.Path) != ".gitignore" {
					got = append(got, strings.TrimPrefix(e.Path, "p/"))
				}
			}
			want := []string{"data/deep/kept", "kept/a.bin",
				"kept/" + strings.Repeat("long/", 30) + "a.bin"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-tracked +in the project\n%s", diff)
			}
		})
	}
}
