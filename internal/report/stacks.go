package report

// A StackSummary counts the copies of stacks in the samples of a dump's process (perf record
// --call-graph dwarf). A full copy ends at the size limit: its outermost callers are missing,
// unless the stack has just that size.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // those with a full copy
	Room    int   `json:"room"`    // size of the largest copy, in bytes
	// Own says that code of the process runs on a stack of its own: larger copies have no more callers.
	Own bool `json:"own,omitempty"`
}
