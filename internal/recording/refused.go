package recording

// A RefusedLog is one that was looked at and not taken.
type RefusedLog struct {
	Path string
	PID  uint32 // whose it says that it is; 0 for nothing
	Err  error
}
