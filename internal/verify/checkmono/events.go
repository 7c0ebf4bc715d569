package checkmono

import (
	"bytes"
	"strings"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
)

// A threadState is what is kept of a thread.
type threadState struct {
	latest uint64 // time of its last event that was written in time
	stack  jitted.CallStack
}

// maxMonoThreads bounds what is kept of threads. Those beyond are not checked.
const maxMonoThreads = 1 << 18

// thread returns what is kept of a thread, nil if there are too many.
func (c *checker) thread(id uint64) *threadState {
	t := c.threads[id]
	if t == nil && len(c.threads) < maxMonoThreads {
		t = new(threadState)
		c.threads[id] = t
	}
	return t
}

// event checks one event.
func (c *checker) event(e *monolog.Event, thread *threadState) {
	switch e.Kind {
	case monolog.KindJIT:
		c.jit(e)
	case monolog.KindEnter:
		c.calls = true
		if thread != nil {
			thread.stack.Enter(e.Method)
		}
	case monolog.KindLeave, monolog.KindExcLeave:
		if thread != nil {
			c.leave(e, thread)
		}
	case monolog.KindClass, monolog.KindImage, monolog.KindAssembly:
		if e.Load == monolog.LoadEnd && (c.header.Version >= 11 || e.Kind != monolog.KindAssembly) {
			c.name(e)
		}
	default:
		c.value(e)
	}
}

// lowestCode is the end of the page that the kernel gives to no process, so that null
// pointers fault.
const lowestCode = 0x1000

// A noCode is a JIT event without code. Why it has none depends on what else is in the log.
type noCode struct {
	name   string // quoted
	code   uint64
	offset int64
}

// endNoCode tells of the JIT events without code.
func (c *checker) endNoCode() {
	jitOnly := recordedJITOnly(c.header.Args)
	for _, n := range c.noCode {
		const text = "%s has 0 bytes of code, at %#x"
		switch {
		case c.calls:
			c.Violation("mono/size-zero-calls", n.offset, text, n.name, n.code)
		case jitOnly:
			c.Violation("mono/code-freed", n.offset, text, n.name, n.code)
		default:
			c.Violation("mono/size-zero", n.offset, text, n.name, n.code)
		}
	}
}

// recordedJITOnly reports whether the profiler was started with nodefaults,jit and with no
// option that turns on other events. Headers of before data version 13 do not say.
func recordedJITOnly(args string) bool {
	_, options, _ := strings.Cut(args, ":") // behind "log"
	var nodefaults, jit bool
	for option := range strings.SplitSeq(options, ",") {
		switch name, _, _ := strings.Cut(option, "="); name {
		case "nodefaults":
			nodefaults = true
		case "jit":
			jit = true
		case "", "output", "zip", "report", "port", "debug", "maxframes", "calldepth", "time":
		default:
			return false
		}
	}
	return nodefaults && jit
}

// jit checks a method's code.
func (c *checker) jit(e *monolog.Event) {
	c.jits++
	c.name(e)
	switch {
	case e.Size == 0:
		c.noCode = append(c.noCode, noCode{verify.Quoted(e.Name), e.Code, e.Offset})
		return
	case e.Code < lowestCode:
		c.Violation("mono/address", e.Offset, "%s has %d bytes of code at address %#x, where no process has any", verify.Quoted(e.Name), e.Size, e.Code)
		return
	case c.header.PtrSize == 8 && e.Code >= 1<<63:
		c.Violation("mono/address", e.Offset, "%s has %d bytes of code at %#x, where the kernel is", verify.Quoted(e.Name), e.Size, e.Code)
		return
	case e.Code+e.Size < e.Code, c.header.PtrSize == 4 && e.Code+e.Size > 1<<32:
		c.Violation("mono/address", e.Offset, "%s has %d bytes at %#x: that is beyond the end of all addresses", verify.Quoted(e.Name), e.Size, e.Code)
		return
	}
	code := codeKey{e.Method, e.Code, e.Size}
	if c.seen[code] {
		c.Violation("mono/twice", e.Offset, "%s at %#x was logged before", verify.Quoted(e.Name), e.Code)
		return
	}
	c.seen[code] = true
	f := jitted.Function{Addr: e.Code, Size: e.Size, Index: e.Method, Time: e.Time, Offset: e.Offset}
	c.functions = append(c.functions, f)
	said := false
	c.places.Put(c.functions, int32(len(c.functions)-1), func(other int32) {
		o := &c.functions[other]
		if o.Addr != f.Addr && !said {
			said = true
			c.Violation("mono/overlap", e.Offset, "%d bytes of code at %#x lie over a part of %d bytes at %#x, from offset %#x", f.Size, f.Addr, o.Size, o.Addr, o.Offset)
		}
		o.Gone = true
	})
}

func (c *checker) name(e *monolog.Event) {
	switch {
	case len(e.Name) == 0:
		c.Violation("mono/name-missing", e.Offset, "the %s has no name", e.Kind)
	case !verify.IsText(e.Name):
		c.Violation("mono/name-text", e.Offset, "the name %s is no text", verify.Quoted(e.Name))
	}
}

// leave takes a method from the stack of its thread.
func (c *checker) leave(e *monolog.Event, t *threadState) {
	switch open, found := t.stack.Leave(e.Method); {
	case !found:
		c.Violation("mono/leave-unknown", e.Offset, "method %#x is left, but was not entered", e.Method)
	case open > 0:
		c.Violation("mono/leave", e.Offset, "method %#x is left, but %s that it called were not", e.Method, verify.Counted(open, "method"))
	}
}

// value checks numbers that stand for something.
func (c *checker) value(e *monolog.Event) {
	unknown := func(what string, v, most uint64) {
		if v > most {
			c.Violation("mono/value", e.Offset, "%s: %s %d is not known", e.Kind, what, v)
		}
	}
	switch e.Kind {
	case monolog.KindGCEvent:
		unknown("event", e.Sub, 11)
		unknown("generation", e.Generation, 2)
	case monolog.KindHandleCreated, monolog.KindHandleDestroyed:
		unknown("handle type", e.Sub, 3)
	case monolog.KindClause:
		unknown("clause", e.Sub, 4)
	case monolog.KindJITHelper:
		if e.Sub != monolog.HelperUnknown {
			unknown("code buffer", e.Sub, monolog.HelperExceptionHandling)
		}
		if e.Size > 0 && e.Code == 0 {
			c.Violation("mono/address", e.Offset, "a helper has code at address 0")
		}
	case monolog.KindRootRegister:
		unknown("source", e.Sub, 16)
	case monolog.KindSyncPoint:
		unknown("kind", e.Sub, 2)
	case monolog.KindCounters:
		for i := range e.Counters {
			unknown("type of a counter", e.Counters[i].Type, monolog.CounterTimeInterval)
		}
	case monolog.KindCounterDescs:
		for i := range e.CounterDescs {
			unknown("type of a counter", e.CounterDescs[i].Type, monolog.CounterTimeInterval)
			if bytes.TrimSpace(e.CounterDescs[i].Name) == nil {
				c.Violation("mono/name-missing", e.Offset, "counter %d has no name", e.CounterDescs[i].Index)
			}
		}
	}
}
