// Package stepped holds derived unwind rows against real programs. Its tests run a
// runtime with a JIT compiler, stop it now and then, and let its busiest thread go on
// instruction by instruction for a while. A shadow stack, which calls push to and
// returns pop from, knows the true frame: where the return address is, and the
// caller's registers. Afterwards the rows that package source derives from the dump
// must lead to the same at every instruction in jitted code.
//
// The package has tests only. Nothing here reads or writes what the product makes, but
// the rows.
package stepped
