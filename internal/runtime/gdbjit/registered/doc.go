// Package registered finds the ELF objects that a process has registered for debuggers, in the memory
// of the process: a core dump, or /proc. It knows no recording.
//
// [Find] looks for the descriptors of GDB's JIT interface. Each copy of LLVM in a process has its own.
// It looks, for each mapped ELF file,
//
//   - in the dynamic symbols, which it reads from memory, or from the file where a core lacks them,
//   - in the other symbols of the file, which no memory has,
//   - in the writable data, if the file has no symbols or is gone, for a descriptor with a whole list.
//
// A file may be another build than the one that was mapped. So its build id is compared where the
// memory has one, and a descriptor counts only if its list begins with an ELF object.
//
// [Read] reads the lists and their objects. The process of a core does not change. A running process
// goes on, so Read repeats until two reads agree in lists, objects and code: see settled.go.
package registered
