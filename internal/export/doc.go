// Package export writes the samples of a recording in the formats of other viewers.
//
//	pprof       go tool pprof, Pyroscope, Parca: gzipped protocol buffer (github.com/google/pprof)
//	speedscope  www.speedscope.app: JSON, see its file-format-schema.json
//	firefox     profiler.firefox.com: gzipped JSON, its processed profile, version 56
//	folded      FlameGraph and most others: a line of text for each stack
//
// All formats have the calls that a compiler inlined. They differ in what they can say about them:
//
//	pprof       several lines at one location
//	speedscope  frames like others
//	firefox     the depth of inlining, and the symbol that has the code
//	folded      the suffix _[i]
//
// They have what [profile.Profile] has, and no more: a recording has no address at which a file
// was mapped, so addresses identify code but do not lead to instructions in files.
//
// Functions that differ in nothing but their tier or their object of JIT code are one function in
// speedscope and firefox. The viewers add up by function, and the tiers are the same source.
//
// Names come from other people's programs. Each writer makes them valid for its format: UTF-8
// everywhere, without separators in folded.
package export
