package argv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Problem is what is wrong with how a program takes its parameters, or worth saying.
type Problem struct {
	// At is the key in tasks.yml, such as command[2], env.LR or flags; "": the parameters file.
	At           string
	Text, Remedy string
}

// Check finds what is wrong with a recipe whose tasks have parameters of some names, and what is
// worth a note. Some tasks lack the parameters of optional names.
func Check(r task.Recipe, style space.Style, names []string, optional ...string) (wrong,
	notes []Problem) {
	c := checker{recipe: r, style: style, names: names, optional: optional,
		taken: map[string]bool{}}
	for i, argument := range r.Command {
		c.braces(fmt.Sprintf("command[%d]", i), argument)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		if r.EnvBraces {
			c.braces("env."+name, r.Env[name])
		}
	}
	c.variables()
	c.untaken()
	c.swallowed()
	return c.wrong, c.notes
}

// ReadsEnvironment reports whether a command names variables of parameters, whichever there are, or
// their file.
func ReadsEnvironment(command []string) bool {
	return slices.ContainsFunc(command, func(argument string) bool {
		return strings.Contains(argument, task.ParametersFile) || strings.Contains(argument, Prefix)
	})
}

// readsOne reports whether a command names the variable of a parameter, or the file of all.
func readsOne(command []string, name string) bool {
	return slices.ContainsFunc(command, func(argument string) bool {
		return strings.Contains(argument, task.ParametersFile) || hasWord(argument, Variable(name))
	})
}

// hasWord reports whether a text has a name, and not as a part of another.
func hasWord(text, word string) bool {
	inName := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !inName(text[start-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		from = end
	}
}

type checker struct {
	recipe   task.Recipe
	style    space.Style
	names    []string
	optional []string        // of names
	taken    map[string]bool // by a name in braces

	wrong, notes []Problem
}

func (c *checker) fault(at, text, remedy string) {
	c.wrong = append(c.wrong, Problem{at, text, remedy})
}

// braces looks at the names in braces of one text.
func (c *checker) braces(at, text string) {
	for _, name := range task.ParameterNames(text) {
		c.taken[name] = true
		if slices.Contains(c.optional, name) {
			c.fault(at, fmt.Sprintf("{%s}: some combinations do not have the parameter %[1]s, and "+
				"nothing could stand there", name),
				fmt.Sprintf("take it as a flag, or from %s or %s, where it is absent, too; or "+
					"give it a value everywhere", Variable(name), task.ParametersFile))
			continue
		}
		if !slices.Contains(c.names, name) {
			problem, remedy := task.UnknownName(name, c.names)
			c.fault(at, problem, remedy)
		}
	}
	for _, word := range task.Placeholders {
		if slices.Contains(c.names, word) && task.HasPlaceholder(text, word) {
			c.fault(at, fmt.Sprintf("{%s} is %s, and the name of a parameter, too", word,
				meanings[word]), "rename the parameter")
		}
	}
}

// meanings are what the names in braces are that are no parameters.
var meanings = map[string]string{
	"host": "the task's host", "slot": "its slot", "index": "the task's index",
	"output": "the task's folder", "task": "the task's ID",
}

// variables looks for two things of one name in the environment.
func (c *checker) variables() {
	of := map[string]string{} // parameters, by their variable
	for _, name := range c.names {
		v := Variable(name)
		if other, is := of[v]; is {
			c.fault("",
				fmt.Sprintf("the parameters %s and %s are both %s in the environment of a task",
					other, name, v), "rename one")
			continue
		}
		of[v] = name
	}
	for _, v := range slices.Sorted(maps.Keys(of)) {
		if _, is := c.recipe.Env[v]; is {
			c.fault("env."+v, "the parameter "+of[v]+" sets "+v+", too",
				"remove one, or give the variable another name")
		}
		if slices.Contains(c.recipe.Secrets, v) {
			c.fault("secrets", v+" is the variable of the parameter "+of[v]+", too", "rename one")
		}
	}
}

// untaken looks for parameters that nothing gives to the program.
func (c *checker) untaken() {
	if c.style.Form != space.None || c.recipe.File != nil { // into which all of them go
		return
	}
	for _, name := range c.names {
		counts := c.recipe.CountsRepeats && name == space.RepeatName
		if !c.taken[name] && !counts && !readsOne(c.recipe.Command, name) {
			c.fault("flags",
				fmt.Sprintf("with flags: none nothing gives the parameter %s to the program", name),
				fmt.Sprintf(
					"write {%s} in command or env, or flags: env if the program reads %s or %s",
					name, Variable(name), task.ParametersFile))
		}
	}
}

// swallowed notes parameters that are no flags as they are a part of an argument, which may only be
// a name for a folder.
func (c *checker) swallowed() {
	if c.style.Form == space.None || c.style.Form == space.Env {
		return
	}
	for _, name := range c.recipe.ParameterNames() {
		whole := func(argument string) bool {
			before, is := strings.CutSuffix(argument, "{"+name+"}")
			return is && (before == "" || strings.HasSuffix(before, "=")) ||
				strings.ContainsAny(argument, " \n") && task.HasPlaceholder(argument, name)
		}
		if !slices.Contains(c.names, name) || slices.ContainsFunc(c.recipe.Command, whole) {
			continue
		}
		i := slices.IndexFunc(c.recipe.Command, func(a string) bool {
			return task.HasPlaceholder(a, name)
		})
		flag := c.flag(name)
		c.notes = append(c.notes, Problem{fmt.Sprintf("command[%d]", i),
			fmt.Sprintf("%q has the parameter %s, so that the flag %s is not added",
				c.recipe.Command[i], name, flag),
			"write it out if the program needs it: " + flag})
	}
}

// flag is the flag of a parameter as it is written in a command.
func (c *checker) flag(name string) string {
	switch {
	case c.style.Form == space.Hydra:
		return name + "={" + name + "}"
	case c.style.Space:
		return "--" + name + " {" + name + "}"
	}
	return "--" + name + "={" + name + "}"
}
