package calls

import (
	"context"
)

// With Options.Sampled, only referenced functions are made, and the targets of their branches
// (targets.go of package plan). First everything is planned, then unreferenced functions are
// dropped. So the remaining ones are identical, byte by byte.
//
// perf looks an address up among the mappings of a process, its own or inherited from an ancestor,
// at a time. A mapping is kept if any address in it is referenced, at any time, in its process or a
// descendant. So all mappings of an address that perf may look up are kept, and perf gets the same
// result.

// An Each calls f for the functions in call logs, any number of times each. It skips the logs of
// processes for which wanted returns false.
type Each func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error
