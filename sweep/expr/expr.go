// Package expr is the language of conditions: filters of results, the monitor's filter, rules of a
// space.
//
//	state=failed
//	lr >= 0.01 and (accuracy > 0.9 or not host ~ '^gpu[12]$')
//	batchsize * unit <= 100000
//	optimizer not in [sgd, adam] or log10(lr) < -2
//
// From the weakest to the strongest: or, and, not; one comparison of = == != < <= > >= ~ !~, in and
// not in; + and -; * / %; the sign -. Functions are abs, log (natural), log2, log10, min and max.
//
// A bare word is a number, else a name, else text. Text is only possible where a comparison has
// something to compare it with: on its right side and in the list of in. In '...' or "..." it is
// always text, a backslash keeping the next quote or backslash, but for one place: alone on the
// left of a comparison it is a name if there is such a name. In backquotes it is always a name.
//
// A bare word goes on until a space, a quote, or one of ( ) = ! < > ~ *, in a list or call also a
// comma: run-3, 1e-3 and a/b are words. So + - / and % stand between spaces, or beside a
// parenthesis. A word such as a-b of names, with no such name as a whole, is an error that says so.
//
// Two numbers compare as numbers, anything else as text. What is absent equals only the empty text,
// and is neither less nor greater than anything; NaN equals nan, and is neither, too. The booleans
// of YAML, true True TRUE false False FALSE, equal each other in any of their cases for = != and
// in, unless one is a text in quotes. ~ finds a regular expression (RE2) anywhere.
//
// Arithmetic is of double precision, and its rounding does not show: where a side of a comparison
// is computed, by an operator or a function, numbers whose relative difference is at most 1e-12 are
// equal, for all of = != < <= > >= and in. A sum or difference that is as small beside its sides is
// 0, and so is % of what is that near to a multiple. Only whole numbers below 2^53 are exact. % has
// the sign of its left side. No comparison holds of arithmetic with what is absent.
//
// The package knows neither rows nor spaces: [Names] says which names there are, and values come
// from a function. Any package may import it.
package expr

import (
	"fmt"
	"slices"
)

// Names resolves the names of an expression to numbers of slots, from which values are taken.
type Names interface {
	// Lookup returns the slot of a name, any number; false: there is no such name.
	Lookup(name string) (slot int, ok bool)
	// Unknown says what is wrong with a name that Lookup does not know, and the remedy.
	Unknown(name string) (problem, remedy string)
}

// Reader is implemented by Names with values in units.
type Reader interface {
	// Literal reads a bare word that is compared with a slot, such as 90m; false: the word is as
	// any other. An error says that the slot never has such a value; its column is set by Parse.
	Literal(slot int, word string) (Value, bool, *Error)
}

// Error says what is wrong with an expression and where.
type Error struct {
	Column  int // in characters, from 1
	Problem string
	Remedy  string
	Unknown string // the name, where the problem is that there is no such name; "" otherwise
}

func (e *Error) Error() string {
	return fmt.Sprintf("column %d: %s; %s", e.Column, e.Problem, e.Remedy)
}

// Expr is an expression that either holds or does not. The zero Expr always holds. Safe for
// concurrent use.
type Expr struct{ root *node }

// Holds reports whether the expression holds for the values that get returns, as filters need it:
// text in arithmetic, a division by zero and a logarithm of what is not positive make a comparison
// that does not hold, and a number is less than a text if its text is. Get is called each time that
// a value is needed.
func (e *Expr) Holds(get func(slot int) Value) bool {
	if e.root == nil {
		return true
	}
	r := run{get: get}
	return e.root.holds(&r)
}

// Match is Holds as rules need it: what is suspicious is an [*Error]. That is text in arithmetic, a
// division by zero, a logarithm of what is not positive, and one of < <= > >= between a number and
// a text. Parts that do not matter are not looked at: b != 0 and a / b < 2 divides nothing by zero.
func (e *Expr) Match(get func(slot int) Value) (bool, error) {
	if e.root == nil {
		return true, nil
	}
	r := run{get: get, strict: true}
	holds := e.root.holds(&r)
	if r.wrong != nil {
		return false, r.wrong
	}
	return holds, nil
}

// Slots returns the slots that the expression looks at, in ascending order, each once.
func (e *Expr) Slots() []int {
	var slots []int
	if e.root != nil {
		e.root.each(func(n *node) {
			if n.kind == slotNode {
				slots = append(slots, n.slot)
			}
		})
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// Conditions returns the parts of the expression that all have to hold: those that and joins.
func (e *Expr) Conditions() []*Expr {
	var parts []*Expr
	var split func(n *node)
	split = func(n *node) {
		if n.kind == andNode {
			split(n.args[0])
			split(n.args[1])
			return
		}
		parts = append(parts, &Expr{n})
	}
	if e.root != nil {
		split(e.root)
	}
	return parts
}
