package source

// Events about code become functions.

// MaxRange is the longest function that is believed in, in bytes.
const MaxRange = 16 << 20

// MinCode is below all code: the kernel maps nothing there unless it is told to
// (vm.mmap_min_addr). From maxCodeAddr on memory is the kernel's.
const (
	MinCode     = 64 << 10
	MaxCodeAddr = 1 << 63
)
