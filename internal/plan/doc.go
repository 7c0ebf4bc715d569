// Package plan decides which objects a run makes, and where their mappings lie. It writes
// nothing. Later stages follow the plan and decide nothing.
//
// [Place] finds the functions of all dumps, and where each process has them. [Functions.Layout] divides
// them among objects: one for each function, or bundles.
//
//	functions.go    the functions, and the layout with one object for each
//	spread.go       functions that lie in files, and in copies of these
//	covered.go      files that are mapped over functions
//	replaced.go     functions whose memory is replaced by other memory
//	repeats.go      code that is loaded again at the same place
//	referenced.go   with --sampled: functions that the recording refers to
//	bundle.go       the layout with one object for each run of memory
//	bundlerefs.go   what bundles must not cover: gaps and functions that samples refer to
//	bundlekinds.go  what bundles must not mix: functions with lines and without
//	skeletons.go    objects that take the place of a file
//	parts.go        the events of a dump, for several workers
//	regions.go      in recordings with copies of stacks: neighbours share an object
//	sharers.go      regions of several dumps
//	words.go        the sentences about what planning found
//
// # Regions
//
// perf 7 unwinds with libdw, which forgets modules that overlap. So functions closer together
// than an ELF header share an object, a region. Where addresses are used again, the region has
// several images, one after the other. Invariant: modules in libdw at the same time never
// overlap, whichever dumps of a process they are made from, and a later image nests in the one before.
//
// regionmap.go maps each function from the image in force at its time. crowded.go bounds the
// images of addresses that are reused very often.
package plan
