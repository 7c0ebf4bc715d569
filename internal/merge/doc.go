// Package merge makes one description of a process's code from all sources that describe it: jitdumps, logs,
// objects that were registered for debuggers, and perf maps.
//
// [Sources] goes through the sources of each process in the order of trust: those with times before those
// without, then by [source.Trust]. A function that a more trusted source has, at the same address and by the
// same name, becomes a part of that one ([model.Part]): it fills gaps, such as lines, code or unwind tables.
// A function where a more trusted source has another one is dropped. That is a contradiction, and reported,
// unless times tell that the place was used again. Of a map, what no better source describes stays. So do all other
// functions.
//
// A log of V8 has told its dump the lines already, so its functions in a dump are only dropped. It compares
// names itself ([source.Namer]).
//
//	merge.go   the order of sources, and what comes of them
//	pair.go    two sources
//	index.go   the functions of a source by time and address
//	names.go   spellings of one name
package merge
