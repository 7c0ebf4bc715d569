// Package recorded reads recordings of perf for the checks of files that belong to them. It
// finds the processes and the memory of a recording, the samples in code before its load, and
// the mappings of objects of jitted functions. It complains about nothing and knows no format of
// side files: they give it functions.
package recorded
