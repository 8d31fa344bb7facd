// Package space reads parameters.yml and enumerates the combinations that it describes: the space
// of a sweep.
//
// A space is lazy. Without rules it is opened and counted in time proportional to its parameters,
// point i is computed from i alone, and an interval of 10^12 values takes as much memory as one of
// three. Parameters keep the order of the file; the last one varies fastest, like the last digit of
// an odometer. The same file always gives the same points in the same order, which is why a task
// can be known by its index.
//
// What a parameter can be:
//
//	lr: 0.001                            one value in every combination, with the text that the file has
//	batchsize: [100, 500]                each element in turn
//	epoch: !!python/tuple [5, 20, 5]     interval [start, end) with a step: 5, 10, 15; without a step it is 1
//	epoch: !interval [5, 20, 5]          the same; so are "[5,20,5)" in quotes and [5,20,5) without them
//	name: !!str "[1,2)"                  text, whatever it looks like
//	augment: true                        a switch: --augment, and nothing for false
//	augment: [true, false]               with and without the switch
//	augment: [true, 5]                   each element is what it is: --augment, then --augment=5 (with a note)
//	layers: [[64, 64], {a: 1}, null]     three values: --layers=[64,64], --layers={"a":1}, no flag
//
// Ranges with a count are lists (!log, !uniform, !logint), or whole numbers with a step (!int); a
// list at the top level is an explicit list of points; and a second document says which
// combinations there are: zip, where, exclude, when, include, repeat, sample. docs/parameters.md
// describes all of it.
//
// # How a space is made
//
// What a file says is a plan: data, with rules as text, which is also what is stored. An axis is a
// digit of the grid (sweep/space/grid) and gives one or more parameters their values: a parameter
// by itself, a group of zip, a list of points. A rule names parameters, and so ties axes; the grid
// numbers the combinations that the rules leave. A condition (when) makes the value of a parameter
// absent, and the combinations that differ only in it one: those with its first value stay.
// Included points come before the grid's, and the grid's own of them are skipped; a sample, or what
// Without left, is a list of indexes of both.
//
// Interval arithmetic is exact decimal, never binary floating point; every value of an interval has
// as many decimals as its longest operand. Operands may have an exponent (1e-3 is 0.001) or be
// integers as YAML writes them (0x10, 1_000).
//
// Anyone who needs the combinations may import the package. It imports gopkg.in/yaml.v3,
// sweep/expr, sweep/fault and sweep/space/grid, and nothing else outside the standard library.
package space
