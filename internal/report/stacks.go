package report

// A StackSummary counts the copies of stacks in the samples of a dump's process (perf record
// --call-graph dwarf). A full copy ends at the size limit: its outermost callers are missing,
// unless the stack has just that size.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // those with a full copy
	Room    int   `json:"room"`    // size of the largest copy, in bytes
	Used    int   `json:"-"`       // bytes of stack in the fullest copy
	// Own says that code of the process runs on a stack of its own: larger copies have no more callers.
	Own bool `json:"own,omitempty"`
}

// Callers counts the stacks of a dump's processes. It is there for dumps without a sample in a function.
type Callers struct {
	Stacks int64 `json:"stacks"` // callchains of user space
	With   int64 `json:"with"`   // those with a function of the dump
	Copies int64 `json:"copies"` // copies of stacks
	// Words counts those with an address in a function of the dump. perf may find it as a caller, or it
	// is left over from an earlier call.
	Words int64 `json:"words"`
}
