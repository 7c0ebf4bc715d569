// Package samplerefs finds the addresses that the samples of a recording refer to, and which of some
// ranges have any of them. Package perfsample reads one record; this package walks the whole recording on
// all CPUs, and says so if the samples do not show all references.
package samplerefs
