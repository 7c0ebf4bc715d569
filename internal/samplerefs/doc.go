// Package samplerefs finds the addresses that the samples of a recording refer to. Package
// perfsample reads one record; this package walks the whole recording, and says so if the samples
// do not show all references.
package samplerefs
