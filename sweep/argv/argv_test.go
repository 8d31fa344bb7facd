package argv_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/argv"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

func TestOf(t *testing.T) {
	t.Parallel()
	r := task.Recipe{Command: []string{"p", "{lr}", "{index}/{host}"},
		Env: map[string]string{"B": "x{lr}", "A": "{{1}}"}, EnvBraces: true}
	a := task.Attempt{Args: []string{"--b={lr}"}, Parameters: []space.Assignment{
		{Name: "lr", Value: "0.10"}, {Name: "net.size-x", Value: "{host}"}}}
	want := argv.Given{Argv: []string{"p", "0.10", "3/{host}", "--b={lr}"},
		Env: []string{"PARAM_LR=0.10", "PARAM_NET_SIZE_X={host}", "A={1}", "B=x0.10"}}
	want.Parameters = argv.JSON(a.Parameters)
	r.File = &task.File{From: "c.yaml", To: "run.yaml"}
	want.File, want.To = []byte("lr: 0.10\nnet.size-x: \"{host}\"\n"), "run.yaml"
	want.Put = a.Parameters
	got, err := argv.Of(r, task.PlaceholderValues{Index: "3"}, a,
		[]byte("lr: 1\nnet.size-x: \"x\"\n"))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestVariable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"lr": "PARAM_LR",
		"model.Optimizer-lr": "PARAM_MODEL_OPTIMIZER_LR", "größe": "PARAM_GR__E", "2": "PARAM_2"} {
		if got := argv.Variable(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	got := argv.JSON([]space.Assignment{
		{Name: "lr", Value: "1e-3"}, {Name: "n", Value: "0.10"}, {Name: "half", Value: ".5"},
		{Name: "id", Value: "007"}, {Name: "hex", Value: "0x10"},
		{Name: "inf", Value: ".inf"}, {Name: "on", Value: "True", Kind: space.Switch},
		{Name: "text", Value: "10", Kind: space.Text}, {Name: "a.b", Value: "<\"\n>"},
		{Name: "word", Value: "true"}, {Name: "none", Value: "null", Kind: space.Null},
		{Name: "list", Value: `[64,{"a":"<"}]`, Kind: space.JSON},
	})
	want := `{
  "lr": 1e-3,
  "n": 0.10,
  "half": 0.5,
  "id": "007",
  "hex": "0x10",
  "inf": ".inf",
  "on": true,
  "text": "10",
  "a.b": "<\"\n>",
  "word": "true",
  "none": null,
  "list": [64,{"a":"<"}]
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" || !json.Valid(got) {
		t.Error(diff)
	}
	if got := string(argv.JSON(nil)); got != "{}\n" {
		t.Errorf("no parameters: %s", got)
	}
}

// texts are problems as lines.
func texts(all []argv.Problem) (lines []string) {
	for _, p := range all {
		lines = append(lines, p.At+": "+p.Text+"; "+p.Remedy)
	}
	return lines
}

// TestCheckOptional: nothing could stand in the place of a parameter that some tasks lack.
func TestCheckOptional(t *testing.T) {
	t.Parallel()
	r := task.Recipe{Command: []string{"p", "--m={m}", "{lr}"}, Env: map[string]string{"A": "{m}"},
		EnvBraces: true}
	wrong, _ := argv.Check(r, space.Style{}, []string{"lr", "m"}, "m")
	const text = ": {m}: some combinations do not have the parameter m, and nothing could stand " +
		"there; take it as a flag, or from PARAM_M or parameters.json, where it is absent, too; " +
		"or give it a value everywhere"
	if got, want := strings.Join(texts(wrong), "\n"), "command[1]"+text+"\nenv.A"+
		text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if wrong, _ := argv.Check(task.Recipe{Command: []string{"p"}}, space.Style{},
		[]string{"lr", "m"}, "m"); len(wrong) > 0 {
		t.Errorf("as a flag: %v", wrong)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	none := space.Style{Form: space.None}
	for name, c := range map[string]struct {
		recipe task.Recipe
		style  space.Style
		names  string
		wrong  string // the only problem; "": none
		note   string
	}{
		"flags": {task.Recipe{Command: []string{"p"}}, space.Style{}, "lr a.b", "", ""},
		"positional": {task.Recipe{Command: []string{"p", "{a.b}", "--lr={lr}"}}, none, "lr a.b",
			"", ""},
		"unknown, near": {task.Recipe{Command: []string{"p", "{modle.lr}"}}, space.Style{},
			"model.lr",
			`command[1]: "{modle.lr}" is not the name of a parameter; did you mean {model.lr}? Braces of your own are {{ and }}`, ""},
		"unknown, far": {task.Recipe{Command: []string{"{zzzzzz}"}}, space.Style{}, "lr",
			`command[0]: "{zzzzzz}" is not the name of a parameter; write one of {lr} {host} {slot} {index} {output} {task}, or {{ and }} for braces of your own`, ""},
		"spaces": {task.Recipe{Command: []string{"{ lr }"}}, space.Style{}, "lr",
			`command[0]: "{ lr }" is not the name of a parameter; did you mean {lr}? Braces of your own are {{ and }}`, ""},
		"unknown in env": {task.Recipe{Env: map[string]string{"A": "{ld}"}, EnvBraces: true},
			space.Style{}, "lr",
			`env.A: "{ld}" is not the name of a parameter; did you mean {lr}? Braces of your own are {{ and }}`, ""},
		"env of old records": {task.Recipe{Env: map[string]string{"A": "{ld}"}}, space.Style{},
			"lr", "", ""},
		"index of two things": {task.Recipe{Command: []string{"{index}"}}, space.Style{}, "index",
			"command[0]: {index} is the task's index, and the name of a parameter, too; rename " +
				"the parameter", ""},
		"index as a flag": {task.Recipe{Command: []string{"p"}}, space.Style{}, "index", "",
			""},
		"one variable": {task.Recipe{Command: []string{"p"}}, space.Style{}, "a.b a_b",
			": the parameters a.b and a_b are both PARAM_A_B in the environment of a task; " +
				"rename one", ""},
		"variable of env": {task.Recipe{Env: map[string]string{"PARAM_LR": "1"}}, space.Style{},
			"lr",
			"env.PARAM_LR: the parameter lr sets PARAM_LR, too; remove one, or give the variable " +
				"another name", ""},
		"variable of a secret": {task.Recipe{Secrets: []string{"PARAM_LR"}}, space.Style{}, "lr",
			"secrets: PARAM_LR is the variable of the parameter lr, too; rename one", ""},
		"none": {task.Recipe{Command: []string{"p", "{a}"}}, none, "a lr",
			"flags: with flags: none nothing gives the parameter lr to the program; write {lr} " +
				"in command or env, or flags: env if the program reads PARAM_LR or parameters.json",
			""},
		"taken by env": {task.Recipe{Env: map[string]string{"A": "{lr}"}, EnvBraces: true},
			none, "lr", "", ""},
		"read from environment": {task.Recipe{Command: []string{"p"}}, space.Style{Form: space.Env},
			"lr", "", ""},
		"variable in a command": {task.Recipe{Command: []string{"sh", "-c", "p $PARAM_LR"}}, none,
			"lr", "", ""},
		"part of a variable": {task.Recipe{Command: []string{"sh", "-c",
			"p $PARAM_LR_MAX $MY_PARAM_LR"}}, none, "lr_max lr", "flags: with flags: none " +
			"nothing gives the parameter lr to the program; write {lr} in command or env, or " +
			"flags: env if the program reads PARAM_LR or parameters.json", ""},
		"file in a command": {task.Recipe{Command: []string{"p", "--config=parameters.json"}},
			none, "lr b", "", ""},
		"only in a folder's name": {task.Recipe{Command: []string{"p", "--out=run-{lr}"}},
			space.Style{}, "lr b", "",
			`command[1]: "--out=run-{lr}" has the parameter lr, so that the flag --lr={lr} is not added; write it out if the program needs it: --lr={lr}`},
		"in a name and alone": {task.Recipe{Command: []string{"p", "--out=run-{lr}", "--lr={lr}"}},
			space.Style{}, "lr b", "", ""},
		"in a shell's text": {task.Recipe{Command: []string{"sh", "-c", "p x{lr}"}},
			space.Style{}, "lr b", "", ""},
		"a name with hydra": {task.Recipe{Command: []string{"p", "run-{lr}"}},
			space.Style{Form: space.Hydra}, "lr", "",
			`command[1]: "run-{lr}" has the parameter lr, so that the flag lr={lr} is not added; write it out if the program needs it: lr={lr}`},
		"a name without flags": {task.Recipe{Command: []string{"p", "run-{lr}"}}, none, "lr", "",
			""},
	} {
		wrong, notes := argv.Check(c.recipe, c.style, strings.Fields(c.names))
		if got := strings.Join(texts(wrong), "\n"); got != c.wrong {
			t.Errorf("%s: wrong is\n%s\nwant\n%s", name, got, c.wrong)
		}
		if got := strings.Join(texts(notes), "\n"); got != c.note {
			t.Errorf("%s: note is\n%s\nwant\n%s", name, got, c.note)
		}
	}
}
