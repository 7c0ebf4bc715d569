package inject

// A Reason says.
type Reason struct{}
