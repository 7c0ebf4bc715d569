package calls

// A SyntheticThread is a thread of a trace with a number that no thread of the recording has, as
// its own is unknown.
type SyntheticThread struct {
	TID  uint32
	Name string
}
