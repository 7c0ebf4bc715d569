// Package checkgdbjit checks core dumps: the list of ELF objects that the process registered for
// debuggers (GDB's JIT interface), and the objects.
//
// It reads the list by itself. It finds the descriptor by its content, and not by its symbol: so it can
// check a core of another machine. It reads the objects with debug/elf.
package checkgdbjit
