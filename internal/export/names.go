package export

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/profile"
)

// functionName is what viewers show for a function, in valid UTF-8.
func functionName(f *profile.Function) string { return text(f.Label()) }

// objectName is the last element of an object's path. Names such as [kernel.kallsyms] have no others.
func objectName(object string) string {
	if strings.HasPrefix(object, "[") {
		return text(object)
	}
	return text(path.Base(object))
}

// sourceOf is the file that viewers show for a function: its source, or else the file with its
// code. The objects of JIT code are left out, because there is one for each version of a function.
func sourceOf(f *profile.Function) string {
	if f.File != "" || f.Kind == profile.JIT {
		return text(f.File)
	}
	return text(f.KnownObject())
}

// text is s as UTF-8: other bytes become U+FFFD.
func text(s string) string {
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// threadName is the name of a thread, or its number.
func threadName(t *profile.Thread) string {
	if t.Name == "" {
		return fmt.Sprint(t.TID)
	}
	return text(t.Name)
}

// title names the recording: the command that was recorded, or the file.
func title(r *profile.Recording) string {
	switch {
	case r.Command != "":
		return text(r.Command)
	case r.Path != "":
		return text(path.Base(r.Path))
	}
	return "perf.data"
}

// recordedAt is the time of the recording, in nanoseconds since 1970, and 0 if it is unknown. perf
// prints local time, so the time zone must be the one in which perf ran.
func recordedAt(r *profile.Recording) int64 {
	fields := strings.FieldsFunc(r.Date, func(c rune) bool { return c == ' ' || c == ':' })
	if len(fields) != 7 {
		return 0
	}
	month := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", fields[1])/3 + 1
	var n [5]int // day, hour, minute, second, year; time.Parse is 12 kB of program
	for i, field := range fields[2:] {
		var err error
		if n[i], err = strconv.Atoi(field); err != nil {
			return 0
		}
	}
	t := time.Date(n[4], time.Month(month), n[0], n[1], n[2], n[3], 0, time.Local)
	if t.Format(time.ANSIC) != r.Date { // a month that is none, 31 June
		return 0
	}
	return t.UnixNano()
}

// isClock reports whether an event counts nanoseconds of processor time. Others count what their
// name says.
func isClock(event string) bool {
	name, _, _ := strings.Cut(event, ":")
	return name == "cpu-clock" || name == "task-clock"
}

// weight is what a sample counts, in the event's unit. A recording without periods has 1 for each.
func weight(s *profile.Sample) uint64 {
	if s.Period == 0 {
		return 1
	}
	return s.Period
}

// A fact is something about the recording that a viewer shows as text.
type fact struct {
	label, text string
}

// factsOf is what is known about the recording, and a line for each warning.
func factsOf(r *profile.Recording, options Options) (facts []fact) {
	add := func(label, s string) {
		if s != "" {
			facts = append(facts, fact{label, text(s)})
		}
	}
	add("file", r.Path)
	add("command", r.Command)
	add("date", r.Date)
	add("host", r.Host)
	add("cpu", r.CPU)
	add("kernel", r.Kernel)
	add("arch", r.Arch)
	add("perf", r.Perf)
	if r.Frequency > 0 {
		add("frequency", fmt.Sprintf("%d Hz", r.Frequency))
	}
	if r.Lost > 0 {
		add("lost samples", fmt.Sprint(r.Lost))
	}
	for _, w := range r.Warnings {
		add("warning", w)
	}
	add("written by", options.Program)
	return facts
}

// frames appends the frames of a stack, outermost first. Its result shares memory with buffer.
func frames(buffer []int, p *profile.Profile, stack int) []int {
	buffer = buffer[:0]
	for ; stack >= 0; stack = p.Stacks[stack].Caller {
		buffer = append(buffer, p.Stacks[stack].Frame)
	}
	slices.Reverse(buffer)
	return buffer
}
