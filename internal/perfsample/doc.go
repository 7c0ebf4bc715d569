// Package perfsample finds the addresses that the records of a recording refer to: the sampled
// addresses, and those in callchains, branches, registers and stack copies.
//
// It does not know which of them are addresses of code. Callers pass the bounds of relevant
// addresses.
package perfsample
