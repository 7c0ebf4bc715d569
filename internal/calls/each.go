package calls

import "context"

// An Each calls f for the functions in call logs, any number of times each. It skips the logs of
// processes for which wanted returns false.
type Each func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error
