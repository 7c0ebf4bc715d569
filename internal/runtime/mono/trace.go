package mono

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/wire"
)

// A LogTrace has the calls of a log in calls mode.
type LogTrace struct {
	log      *Log
	src      io.ReaderAt // the uncompressed log
	path     string
	pid      uint32
	tids     map[*LogThread]uint32
	recent   [1 << 12]recentMethod
	problems []calls.Problem
	unknown  map[uint64]bool

	read, whole int64 // bytes of the threads' buffers: opened so far, and in total
}

var (
	_ calls.Trace     = (*LogTrace)(nil)
	_ calls.Describer = (*LogTrace)(nil)
	_ calls.Meter     = (*LogTrace)(nil)
)

// Trace returns the calls of a scanned log. src is the uncompressed log. tids maps the log's
// threads to those of the recording; other threads are dropped.
func (m *Log) Trace(src io.ReaderAt, path string, pid uint32, tids map[*LogThread]uint32) *LogTrace {
	t := &LogTrace{log: m, src: src, path: path, pid: pid, tids: tids, unknown: make(map[uint64]bool)}
	m.MethodAt(0, 0) // sort now
	if n := m.calls.left; n > 0 {
		t.problem(-1, fmt.Sprintf("it has buffers of more than %d threads; %d are left out", maxMonoThreads, n), "log a shorter run")
	}
	return t
}

// Path returns the name of the log.
func (t *LogTrace) Path() string { return t.path }

// Event is the name of the event of calls.
const Event = "mono"

// Name returns Event.
func (t *LogTrace) Name() string { return Event }

// PID returns the process in the recording.
func (t *LogTrace) PID() uint32 { return t.pid }

// HasCPU returns false: Mono does not log the CPUs of threads.
func (t *LogTrace) HasCPU() bool { return false }

// HasArgs returns false.
func (t *LogTrace) HasArgs() bool { return false }

// HasNotes returns false.
func (t *LogTrace) HasNotes() bool { return false }

// Close does nothing; src belongs to the caller.
func (t *LogTrace) Close() error { return nil }

// Problems returns the problems with the calls. The scan has reported those of the log as a whole.
func (t *LogTrace) Problems() []calls.Problem {
	problems := slices.Clone(t.problems)
	if n := len(t.unknown); n > 0 {
		problems = append(problems, calls.Problem{Offset: -1, Text: fmt.Sprintf("it has calls of %d methods that it does not describe; these calls are left out", n), Advice: "let the program end, so that Mono writes the whole log"})
	}
	return problems
}

func (t *LogTrace) problem(offset int64, text, advice string) {
	if len(t.problems) < source.MaxProblems {
		t.problems = append(t.problems, calls.Problem{Offset: offset, Text: text, Advice: advice})
	}
}

// Read returns how many bytes of the log's buffers with calls were read, and their total.
func (t *LogTrace) Read() (done, total int64) { return t.read, t.whole }

// Threads returns the threads with calls, in the order of their start.
func (t *LogTrace) Threads(context.Context) ([]calls.Thread, error) {
	t.read, t.whole = 0, 0
	var threads []calls.Thread
	for _, thread := range t.log.calls.threads {
		tid, ok := t.tids[thread]
		if !ok || !thread.Calls() {
			continue
		}
		buffers := slices.Clone(thread.buffers)
		for i := range buffers {
			t.whole += buffers[i].size
		}
		sorting.Stable(buffers, func(a, b logBuffer) int { return cmp.Compare(a.time, b.time) })
		threads = append(threads, &threadReader{t: t, tid: tid, self: thread.Self, begins: min(thread.First, buffers[0].time), buffers: buffers})
	}
	return threads, nil
}

// A threadReader reads the calls of a thread, buffer by buffer.
type threadReader struct {
	t       *LogTrace
	tid     uint32
	self    uint64
	begins  uint64
	buffers []logBuffer
	reader  *monolog.Reader // nil before the first buffer and after the last
	within  bool            // it is in a buffer
	from    uint64          // start of the buffer
	to      uint64          // start of the next one, or else long after from
	last    uint64
}

// A recentMethod is the address of a method that the log has once.
type recentMethod struct{ method, addr uint64 }

// TID returns the thread in the recording.
func (t *threadReader) TID() uint32 { return t.tid }

// Begins returns the time of the thread's first buffer.
func (t *threadReader) Begins() uint64 { return t.begins }

// Next reads the next step.
func (t *threadReader) Next(s *calls.Step) error {
	for {
		if !t.within {
			if len(t.buffers) == 0 {
				t.reader = nil
				return io.EOF
			}
			if err := t.open(); err != nil {
				return t.damaged(s, err)
			}
		}
		e, err := t.reader.Next()
		if err == io.EOF {
			t.within = false
			continue
		}
		if err != nil {
			t.within = false
			return t.damaged(s, err)
		}
		kind := calls.Enter
		switch e.Kind {
		case monolog.KindEnter:
		case monolog.KindLeave:
			kind = calls.Exit
		case monolog.KindExcLeave:
			kind = calls.Unwound
		default:
			continue
		}
		if e.Time+timeSlack < t.from || e.Time > t.to+timeSlack {
			t.within = false
			t.t.problem(e.Offset, fmt.Sprintf("the %s there has an impossible time, %d ns after the start of its buffer; the rest of the buffer is left out", e.Kind, int64(e.Time-t.from)), "let the program end, and copy its log again")
			return t.gap(s)
		}
		t.last = e.Time
		addr := t.place(e.Method, e.Time)
		if addr == 0 {
			continue
		}
		*s = calls.Step{Kind: kind, Time: e.Time, Function: addr}
		return nil
	}
}

// open opens the next buffer.
func (t *threadReader) open() error {
	at := t.buffers[0].offset
	t.t.read += t.buffers[0].size
	t.from = t.buffers[0].time
	t.buffers = t.buffers[1:]
	t.to = t.from + longAfter
	if len(t.buffers) > 0 {
		t.to = t.buffers[0].time
	}
	var err error
	if t.reader == nil {
		t.reader, err = monolog.ReadBufferAt(t.t.src, t.t.log.header, at)
	} else {
		err = t.reader.SeekBuffer(t.t.src, at)
	}
	if err != nil {
		return err
	}
	buffer, err := t.reader.NextBuffer()
	if err == nil && buffer.Thread != t.self {
		err = fmt.Errorf("%s: the buffer at offset %#x belongs to another thread now; has the log changed?", monolog.FormatName, at)
	}
	t.within = err == nil
	return err
}

// timeSlack is how far times may be outside of their buffer's interval, in nanoseconds: threads
// write some events late. longAfter is the assumed length of the last buffer: a day.
const (
	timeSlack = 1e9
	longAfter = 24 * 3600 * 1e9
)

// damaged returns the gap that damage leaves. The scan has reported the damage.
func (t *threadReader) damaged(s *calls.Step, err error) error {
	var at *wire.Error
	if err == io.EOF {
		err = errors.New("it has become shorter while it was read")
	}
	if !errors.As(err, &at) && !errors.Is(err, monolog.ErrCut) {
		t.t.problem(-1, err.Error(), "inject again")
	}
	return t.gap(s)
}

func (t *threadReader) gap(s *calls.Step) error {
	*s = calls.Step{Kind: calls.Gap, Time: t.last}
	return nil
}

// place returns the address of a method at a time, or 0 if it is unknown.
func (t *threadReader) place(method, time uint64) uint64 {
	r := &t.t.recent[(method>>3^method>>9)%uint64(len(t.t.recent))]
	if r.method == method && r.addr != 0 {
		return r.addr
	}
	i, once, ok := t.t.log.MethodAt(method, time)
	if !ok {
		if len(t.t.unknown) < source.MaxProblems*100 {
			t.t.unknown[method] = true
		}
		return 0
	}
	addr, _ := t.t.log.FunctionPlace(i)
	if once {
		*r = recentMethod{method, addr}
	}
	return addr
}

// Packed reports whether the log is compressed.
func (m *Log) Packed() bool {
	var head [2]byte
	n, _ := m.src.ReadAt(head[:], 0)
	return n == 2 && head[0] == 0x1f && head[1] == 0x8b
}

// Unpack returns a reader of the uncompressed log, from its start.
func (m *Log) Unpack() (io.Reader, error) {
	return gzip.NewReader(io.NewSectionReader(m.src, 0, m.src.Size()))
}
