package guess

import (
	"io/fs"
	"path"
	"regexp"
)

var (
	// reads matches what a source has that takes values from outside: arguments, variables, standard
	// input, or a library that does so.
	reads = regexp.MustCompile(`(?i)\barg|_args?\b|argument|optparse|getopt|click|absl|flags|hydra|` +
		`omegaconf|\bfire\b|typer|tyro|docopt|\bplac\b|sacred|cli\b|environ|getenv|PARAM_|` +
		`parameters\.json|\bgin\b|cyclopts|settings|stdin|input\(|fileinput|wandb`)
	// harmless matches names of modules that read nothing from outside unless they are told to.
	harmless = regexp.MustCompile(`^(?:` +
		`__future__|abc|array|bisect|collections|concurrent|contextlib|copy|csv|dataclasses|` +
		`datetime|decimal|enum|fractions|functools|glob|gzip|hashlib|heapq|io|itertools|json|` +
		`logging|math|multiprocessing|operator|os|pathlib|pickle|platform|pprint|queue|` +
		`random|re|shutil|signal|statistics|string|struct|sys|tempfile|textwrap|threading|` +
		`time|traceback|types|typing|urllib|uuid|warnings|weakref|zipfile|PIL|cv2|flax|gym|` +
		`gymnasium|h5py|jax|joblib|keras|lightgbm|matplotlib|networkx|nltk|numba|numpy|optax|` +
		`pandas|scipy|seaborn|sklearn|tensorflow|torch|torchvision|tqdm|xgboost|yaml)$`)
	// runs matches what runs other code, which cannot be followed.
	runs = regexp.MustCompile(`\b(?:exec|eval|runpy|importlib|subprocess|__import__)\b`)
	// importedNames matches the first names of imported modules.
	importedNames = regexp.MustCompile(`(?m)^[ \t]*(?:from|import)[ \t]+(\.*\w+)`)
)

// maxModules is the maximum number of modules of a project that are read for one script.
const maxModules = 100

// ReadsNothing reports whether neither a Python script nor the modules of the project that it
// imports take any values from outside, so that arguments have no effect on it. It is false where
// that cannot be told.
func ReadsNothing(project fs.FS, file string) bool {
	dir, seen := path.Dir(file), map[string]bool{file: true}
	for queue := []string{file}; len(queue) > 0; queue = queue[1:] {
		text := read(project, queue[0])
		if text == "" && path.Base(queue[0]) != "__init__.py" || reads.MatchString(text) ||
			runs.MatchString(text) || len(seen) > maxModules {
			return false
		}
		for _, m := range importedNames.FindAllStringSubmatch(text, -1) {
			if m[1][0] == '.' {
				continue // a module beside it: its package is in the queue
			}
			files := append(modulesOf(project, path.Join(dir, m[1])), modulesOf(project, m[1])...)
			if len(files) == 0 && !harmless.MatchString(m[1]) {
				return false
			}
			for _, found := range files {
				if !seen[found] {
					seen[found] = true
					queue = append(queue, found)
				}
			}
		}
	}
	return true
}

// modulesOf returns the files of a module: its own, or all of a package.
func modulesOf(project fs.FS, name string) (files []string) {
	if info, err := fs.Stat(project, name+".py"); err == nil && info.Mode().IsRegular() {
		return []string{name + ".py"}
	}
	for _, pattern := range []string{"/*.py", "/*/*.py", "/*/*/*.py"} {
		found, _ := fs.Glob(project, name+pattern) // the pattern is well-formed
		files = append(files, found...)
	}
	return files
}
