package showmono

import (
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/callstats"
)

// A callCounter counts the calls of a log, thread by thread: buffers of a thread come in the
// order of time.
type callCounter struct {
	*logViewer
	ledger     callstats.Ledger
	threads    map[uint64][]openCall
	open       int // calls in all of them
	unfinished map[uint64]uint64
	calls      int64
	ended      int64 // without an event of their own
	unmatched  int64 // leaves without an enter
	left       int64 // calls that there was no room for
}

// An openCall is one that has not ended.
type openCall struct {
	method, time uint64
	inner        uint64 // nanoseconds in calls that it made, and that have ended
}

// maxOpen bounds the calls that have not ended, of all threads.
const maxOpen = 1 << 20

// stats shows how often methods were called and how long that took, those
// with the largest sums first.
func (m *logViewer) stats() {
	s := &callCounter{logViewer: m, threads: make(map[uint64][]openCall), unfinished: make(map[uint64]uint64)}
	at := m.header.Size
	for !m.Lost() {
		b, err := m.reader.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			m.Problem(show.OffsetOf(err, at), err)
			continue
		}
		at = b.Offset + bufferHead
		thread := b.Thread
		for {
			e, err := m.reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				m.Problem(show.OffsetOf(err, at), fmt.Errorf("%w; the rest of the buffer is left out", err))
				break
			}
			at = e.Offset + e.Length
			m.known.learn(e)
			s.event(thread, e)
		}
	}
	for _, stack := range s.threads {
		for _, call := range stack {
			s.end(call)
		}
	}
	s.show()
}

func (s *callCounter) event(thread uint64, e *monolog.Event) {
	switch e.Kind {
	case monolog.KindEnter:
		if s.open >= maxOpen {
			s.left++
			return
		}
		s.threads[thread] = append(s.threads[thread], openCall{method: e.Method, time: e.Time})
		s.open++
	case monolog.KindLeave, monolog.KindExcLeave:
		s.leave(thread, e)
	}
}

// leave ends a call, and those that it made and that have no event of their own.
func (s *callCounter) leave(thread uint64, e *monolog.Event) {
	stack := s.threads[thread]
	i := len(stack) - 1
	for i >= 0 && stack[i].method != e.Method {
		i--
	}
	if i < 0 {
		s.unmatched++
		return
	}
	for _, call := range stack[i+1:] {
		s.end(call)
	}
	call := stack[i]
	if i+1 < len(stack) { // its call ends with it
		call.inner += since(stack[i+1].time, e.Time)
	}
	length := since(call.time, e.Time)
	if i > 0 {
		stack[i-1].inner += length
	}
	if s.wantedCall(call.method, e.Time) {
		s.calls++
		s.ledger.Add(call.method, length, length-min(call.inner, length))
	}
	s.open -= len(stack) - i
	s.threads[thread] = stack[:i]
}

// since returns how long it is from a time to a later one, 0 if that is not later.
func since(from, to uint64) uint64 { return max(to, from) - from }

// end counts a call that no event ends.
func (s *callCounter) end(call openCall) {
	if !s.wantedCall(call.method, call.time) {
		return
	}
	s.ended++
	if len(s.unfinished) < callstats.MaxFunctions || s.unfinished[call.method] > 0 {
		s.unfinished[call.method]++
	}
}

func (s *callCounter) wantedCall(method, time uint64) bool {
	f := &s.Opts.Filter
	return f.MatchesTime(time, true) && (!f.Address.Set || f.Address.Meets(method, 1)) &&
		(len(f.Names) == 0 || f.MatchesName([]byte(s.known.methods.names[method])))
}

func (s *callCounter) show() {
	methods := (&callstats.Table{
		Ledger: &s.ledger, Unfinished: s.unfinished, Unit: "ns", Length: func(ns float64) float64 { return ns }, Key: "method", Hex: true,
		Name: func(id uint64) string { return s.known.methods.names[id] },
	}).Show(s.Out)
	(&callstats.Total{
		Threads: len(s.threads), Functions: methods, Calls: s.calls, Unfinished: s.ended, Unmatched: s.unmatched, CallsDeep: s.left, Refused: s.ledger.Refused,
	}).Show(s.Viewer)
}
