package checkgdbjit

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Recorded reports whether a core dump has functions that were registered for debuggers, in executable
// memory of a process in a recording. It is as a [recorded.BelongsFunc].
func Recorded(ctx context.Context, path string, p *recorded.Processes) bool {
	f, _, err := verify.OpenSized(path)
	if err != nil {
		return false
	}
	defer f.Close()
	c := &checker{Reporter: verify.NewReporter(path, &verify.Options{}, nil), ctx: ctx}
	if c.check(f) != nil || c.core == nil || len(c.functions) == 0 {
		return false
	}
	functions := make([]jitted.Function, len(c.functions))
	for i := range c.functions {
		functions[i] = jitted.Function{Addr: c.functions[i].lo, Size: c.functions[i].hi - c.functions[i].lo}
	}
	_, owned := p.Owner(uint32(max(c.core.PID(), 0)), functions)
	return owned
}
