// Package checkgdbjit checks core dumps: the list of ELF objects that the process registered for
// debuggers (GDB's JIT interface), and the objects. Package registered finds and reads them, as for an
// injection; here, its problems get a cause and advice, and the functions are compared with the memory.
package checkgdbjit
