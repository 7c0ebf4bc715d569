package calls

// A SyntheticThread is a thread of a trace with an unknown number. It gets one that no thread of
// the recording has.
type SyntheticThread struct {
	TID  uint32
	Name string
}
