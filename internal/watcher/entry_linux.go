//go:build amd64 || arm64

package watcher

// entry is the entry point of the program. It is never called.
//
//lint:ignore U1000 the linker's flag -E names it
func entry()

// memory returns the shared memory.
func memory() []byte
