// Package xrayfdr reads and writes traces of LLVM's XRay in flight data recorder
// mode.
package xrayfdr
