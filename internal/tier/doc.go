// Package tier reads what runtimes write into the names of their functions: the tier, which is the part
// of a runtime that made or runs a function, and the place in the source. [Read] splits a whole name,
// and [V8Mark] a part of V8's. This is the only table of such marks.
package tier
