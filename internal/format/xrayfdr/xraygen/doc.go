// Package xraygen writes traces of LLVM's XRay, of all versions and byte orders, for tests.
package xraygen
