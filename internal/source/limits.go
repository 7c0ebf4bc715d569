package source

// Limits for events and functions.

// MaxRange is the size of the longest plausible function, in bytes.
const MaxRange = 16 << 20

// MinCode and MaxCodeAddr bound the addresses of code. By default, the kernel maps nothing below
// MinCode (vm.mmap_min_addr). Memory from MaxCodeAddr on is the kernel's.
const (
	MinCode     = 64 << 10
	MaxCodeAddr = 1 << 63
)
