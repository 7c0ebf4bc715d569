// Package stepped checks unwind rows against ground truth. It has tests only.
//
// A step test runs a runtime with a JIT compiler and single-steps one of its threads by
// ptrace, in bursts. A shadow stack records every call, so the true frame is known: the
// place of the return address, and the caller's registers. Afterwards, at each instruction
// that was executed in jitted code, the row of the function's object must give that frame.
// Rows are derived by package cfi, or were sent by the producer.
//
// A chain test does the same with recorded samples that have a copy of the user stack.
// There the truth is the chain of frame pointers, and the calls before return addresses.
//
// A row is right, missing or wrong. A missing row is no fault: unwinders then stop, or
// follow frame pointers. A wrong row fails the test.
//
// The environment variable JITINJECT_NODES names further node programs for TestUnwindRows_Node,
// separated by colons. The flag -steps bounds the steps in each process, and -recordings
// names directories of further recordings for TestUnwindRows_RecordedStacks.
package stepped
