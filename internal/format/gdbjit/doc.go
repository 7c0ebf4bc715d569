// Package gdbjit is the codec of GDB's JIT interface: the list of ELF objects by which a program
// tells debuggers about code that it made. The list is in the memory of the program.
//
// A variable __jit_debug_descriptor begins it:
//
//	offset size
//	 0      4   version         1
//	 4      4   action_flag     what was done last: 0 nothing, 1 register, 2 unregister
//	 8      p   relevant_entry  the entry that it was done with, or 0
//	 8+p    p   first_entry     or 0
//
// p is the size of a pointer, 4 or 8 bytes. Each entry is
//
//	offset size
//	 0      p   next_entry    or 0
//	 p      p   prev_entry    0 for the first
//	2p      p   symfile_addr  of a whole ELF object
//	 …      8   symfile_size  in bytes
//
// symfile_size is aligned as the machine's ABI demands: at offset 12 on i386, at 16 on ARM and on other
// machines with 32 bits. All numbers are in the byte order of the machine.
//
// A program may change the list while it is read, and damaged memory may hold anything. So counts and
// sizes are bounded, and each entry is visited once.
//
// Source: "JIT Compilation Interface" in GDB's manual.
package gdbjit
