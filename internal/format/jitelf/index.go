package jitelf

// An index has the content of the debugging information.
type index struct{}

// load reads the debugging information.
func (o *Object) load() {}
