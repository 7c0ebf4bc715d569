package calls

import (
	"context"
)

// With Options.Sampled, only those functions are made that something in the
// recording touches, and those that they branch to (targets.go). All is planned first,
// and then what nothing touches is dropped: so what stays is, to the byte, what it would
// have been.
//
// perf looks an address up among the mappings that its process has, or has from a
// forebear, at a time. A mapping is kept if any address in it is touched in its
// process or in one that comes from it, whenever. So of the mappings that hold an
// address which perf may look up, all are kept, and it finds what it would have
// found.

// An Each calls f for the functions that logs of calls tell of, each any number of
// times. Logs of processes for which wanted is false are not read.
type Each func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error
