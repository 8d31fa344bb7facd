// Package space reads parameters.yml and enumerates the combinations that it describes: the space of a sweep.
//
// A space is lazy. It is opened and counted in time proportional to its parameters, point i is computed from i alone,
// and an interval of 10^12 values takes as much memory as one of three. Parameters keep the order of the file; the
// last one varies fastest, like the last digit of an odometer. The same file always gives the same points in the same
// order, which is why a task can be known by its index.
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
//
// Interval arithmetic is exact decimal, never binary floating point; every value of an interval has as many decimals as
// its longest operand. Operands may have an exponent (1e-3 is 0.001) or be integers as YAML writes them (0x10, 1_000).
//
// Anyone who needs the combinations may import the package. It imports gopkg.in/yaml.v3, sweep/fault, and nothing else
// outside the standard library.
package space
