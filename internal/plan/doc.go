// Package plan decides which objects there will be, and which mappings say where they are.
// Nothing is written here, and later stages decide nothing.
//
//	plan.go         one object for each function
//	attribution.go  in which process, children.go: and in which of its children
//	tables.go       at which addresses their unwind tables are
//	referenced.go  with --sampled: what the recording refers to
//	bundle.go       with --bundle: one object for each stretch of memory
//	regions.go      in recordings with copies of stacks: neighbours share an object
//
// # Regions
//
// perf 7 unwinds with libdw, which forgets modules that overlap. So functions that lie
// closer together than an ELF header share an object, a region. Where addresses are used
// again there is one image after the other. Invariant: modules in libdw at the same time
// never overlap, and a later image nests in the one before. regionmap.go maps each function
// from the image in force at its time; crowded.go bounds the images of addresses that are
// reused very often; repeats.go finds code that is loaded again at the same place.
package plan
