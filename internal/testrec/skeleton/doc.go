// Command skeleton copies the files that a recording maps, without what unwinding and
// naming its stacks does not need:
//
//	go run ./internal/testrec/skeleton RECORDING [ROOT]
//
// RECORDING is a directory with a perf.data. The files are looked for below ROOT, which is
// / unless it is given, and copies are put below RECORDING/root, where testrec.Relocate
// finds them. A copy has the same headers and offsets, and is sparse: nearly all of it are
// zeros. It keeps
//
//   - the unwind tables of functions that any 8 bytes of perf.data may be a return address
//     to, and their search table;
//   - those functions' symbols;
//   - 16 bytes of code at each of these addresses, by which unwinders know signal frames;
//   - the build id.
package main
