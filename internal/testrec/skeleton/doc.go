// Command skeleton copies the files that a recording maps, keeping only data for unwinding
// and naming its stacks:
//
//	go run ./internal/testrec/skeleton RECORDING [ROOT]
//
// RECORDING is a directory with a perf.data. Files are read below ROOT, by default /, and
// copies are written below RECORDING/root, where testrec.Relocate finds them. A copy has
// the same headers and offsets, and is sparse: most of it is zeros. It keeps:
//
//   - the unwind tables of functions to which any 8 bytes of perf.data may be a return
//     address, and their search table;
//   - those functions' symbols;
//   - 16 bytes of code at each of these addresses, by which unwinders know signal frames;
//   - the build id.
package main
