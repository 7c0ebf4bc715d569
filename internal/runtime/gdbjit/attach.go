package gdbjit

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
)

// Attach combines the registered objects of a process with its other dumps. Objects describe the
// functions of a jitdump with the same address, size and code. Functions that another dump has, or
// that contradict it, are dropped from the objects. Dumps without functions are dropped. The error is
// ctx's.
func Attach(ctx context.Context, _ *recording.Recording, dumps []*model.Dump, _ *config.Options) (*locate.Attached, error) {
	kept := new(locate.Attached)
	for i, d := range dumps {
		objects, ok := d.Source.(*Objects)
		if !ok {
			continue
		}
		c := &combination{objects: objects, gone: make(map[int]bool)}
		for j, other := range dumps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if j == i || !shareProcess(d, other) {
				continue
			}
			switch s := other.Source.(type) {
			case *Objects:
				if j < i {
					c.without(s)
				}
			case *jitdump.Dump:
				if n := c.describe(s); n > 0 {
					kept.Found.Note(fmt.Sprintf("%s: it describes %s of %s by registered objects", quote.Printable(d.Path), counted(n, "function"), quote.Printable(other.Path)))
				}
			default:
				c.dropOverlapping(s.Scanned().Events)
			}
		}
		objects.drop(func(i int) bool { return c.gone[i] })
		objects.Lost.Contradicted += c.contradicted
	}
	for _, d := range dumps {
		objects, ok := d.Source.(*Objects)
		if ok && objects.Lost.Total() > 0 {
			objects.reportLost(d.Path, &kept.Found)
		}
		if !ok || len(objects.functions) > 0 {
			kept.Dumps = append(kept.Dumps, d)
		}
	}
	return kept, nil
}

// reportLost adds a finding about functions that are not used.
func (d *Objects) reportLost(path string, found *report.Findings) {
	var reasons string
	for _, r := range []struct {
		n    int
		text string
	}{
		{d.Lost.NotExecutable, "were not in executable memory"}, {d.Lost.Overlapping, "overlap others, and their order is unknown"},
		{d.Lost.InFiles, "are where the recording has a file"}, {d.Lost.Contradicted, "are where another dump has other code"},
	} {
		if r.n > 0 {
			reasons += fmt.Sprintf(", %d %s", r.n, r.text)
		}
	}
	text := fmt.Sprintf("of the functions that it has registered for debuggers, %d are left out: %s", d.Lost.Total(), reasons[2:])
	if len(d.functions) == 0 && d.Lost.Total() > d.Lost.Contradicted {
		found.Problem(report.Problem{Code: report.ProblemUnused, File: path, Offset: -1, Text: text, Advice: adviceVerify(path)})
		return
	}
	found.Note(quote.Printable(path) + ": " + text)
}

// counted returns a number of things, with their noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// adviceVerify advises how to find the cause of faults. verify reads core dumps and no running process.
func adviceVerify(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return "for the likely cause: make a core dump (gcore PID), and jitinject verify core.PID"
	}
	return report.AdviceVerify(path)
}

// adviceCycle is adviceVerify for a list that leads back to itself. gdb follows such a list for ever, and
// its gcore with it.
func adviceCycle(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return "for the likely cause: make a core dump without gdb, which follows such a list for ever (kill -ABRT PID ends the process and makes one: coredumpctl dump PID), and jitinject verify it"
	}
	return adviceVerify(path)
}

// shareProcess reports whether two dumps are of one process.
func shareProcess(a, b *model.Dump) bool {
	for _, m := range a.Markers {
		for _, o := range b.Markers {
			if m.PID == o.PID {
				return true
			}
		}
	}
	return false
}

// A combination compares the objects of a process with its other dumps.
type combination struct {
	objects      *Objects
	gone         map[int]bool // functions that are dropped
	contradicted int          // of these, those that another dump contradicts
}

// overlapping calls f for each pair of a function and an event that share addresses.
func (c *combination) overlapping(events []jitcode.Event, f func(i int, e *jitcode.Event)) {
	functions := c.objects.functions // sorted by address, without overlaps
	for k := range events {
		e := &events[k]
		from := sort.Search(len(functions), func(i int) bool { return functions[i].at.Addr+functions[i].at.Size > e.Addr })
		for i := from; i < len(functions) && functions[i].at.Addr < e.Addr+e.Size; i++ {
			f(i, e)
		}
	}
}

// dropOverlapping drops functions that overlap those of another dump.
func (c *combination) dropOverlapping(events []jitcode.Event) {
	c.overlapping(events, func(i int, _ *jitcode.Event) {
		if !c.gone[i] {
			c.gone[i] = true
			c.contradicted++
		}
	})
}

// without drops functions that earlier objects have, and those that they contradict from both.
func (c *combination) without(other *Objects) {
	theirs := make(map[int]bool)
	c.overlapping(other.Events, func(i int, e *jitcode.Event) {
		mine, its := c.objects.functions[i].at, other.functions[e.Function].at
		same := mine.Addr == its.Addr && mine.Size == its.Size && bytes.Equal(mine.Name, its.Name)
		if !same {
			theirs[e.Function] = true
		}
		if !c.gone[i] && !same {
			c.contradicted++
		}
		c.gone[i] = true
	})
	other.Lost.Contradicted += other.drop(func(i int) bool { return theirs[i] })
}

// describe lets the objects describe functions of a jitdump, and returns their number. An object was
// there when the memory was read. So it describes the load of the same code that came last. Earlier
// ones of the same code need the same name as well.
func (c *combination) describe(dump *jitdump.Dump) int {
	last := make(map[int]*jitcode.Event) // by function of the objects
	equal := make(map[int][]*jitcode.Event)
	c.overlapping(dump.Events, func(i int, e *jitcode.Event) {
		list := equal[i]
		if f := c.objects.functions[i].at; e.Kind == jitcode.Load && e.Addr == f.Addr && e.Size == f.Size {
			list = append(list, e)
			if last[i] == nil || e.Time >= last[i].Time {
				last[i] = e
			}
		}
		equal[i] = list // empty for a function that only overlaps others
	})
	functions := make(map[int]described) // by function of the dump
	code := dump.NewCodeReader()
	reader := c.objects.Functions().(*functionReader)
	for i, events := range equal {
		// LLVM's MCJIT writes the code into a dump before it applies relocations.
		f := &c.objects.functions[i]
		own, written := reader.bytes(i), []byte(nil)
		if opened, err := c.objects.opened.get(&c.objects.objects[f.object]); err == nil {
			written = opened.Code(f.symbol)
		}
		matched := false
		for _, e := range events {
			name, theirs, err := code.Code(e.Function)
			if err == nil && (bytes.Equal(own, theirs) || bytes.Equal(written, theirs)) && (e == last[i] || bytes.Equal(name, f.at.Name)) {
				functions[e.Function] = described{i, e == last[i] && !bytes.Equal(own, theirs)}
				matched = true
			}
		}
		if !matched && !c.gone[i] {
			c.contradicted++
		}
		c.gone[i] = true
	}
	if len(functions) == 0 {
		return 0
	}
	describing := c.objects.snapshot()
	dump.DescribeByObjects(jitdump.ObjectDescription{
		Has:     func(i int) bool { _, ok := functions[i]; return ok },
		Objects: func() jitdump.ObjectSource { return &descriptions{describing.Functions().(*functionReader), functions} },
	})
	return len(functions)
}

// A described is a function of the objects that describes one of a jitdump.
type described struct {
	function  int
	relocated bool // the dump has the code without relocations, and the memory has it with them
}

// descriptions describes functions of a jitdump by objects.
type descriptions struct {
	reader    *functionReader
	functions map[int]described // by function of the dump
}

// Describe sets the lines, inlined calls and unwind tables of fn, and its code if the dump has that
// without relocations.
func (d *descriptions) Describe(i int, fn *jitcode.Function) error {
	f := d.functions[i]
	if f.relocated {
		fn.Code = d.reader.bytes(f.function)
	}
	return d.reader.describe(f.function, fn)
}
