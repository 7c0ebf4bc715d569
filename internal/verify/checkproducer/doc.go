// Package checkproducer reports what a jitdump lacks that profilers could show: source lines, inlined
// calls, unwind tables, and so on. Its findings are notes for the author of a runtime. A dump without
// them is valid. Package checkdump gives it each function as the engine reads it.
package checkproducer
