// Package perfsample finds the addresses that the records of a recording refer to: where
// samples were taken, and what their callchains, branches, registers and copies of stacks
// hold.
//
// It does not know which of them are addresses of code. Callers give the bounds of what
// they are interested in.
package perfsample
