package show

import (
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// A monoStats counts the calls of a log, thread by thread: buffers of a thread come in the
// order of time.
type monoStats struct {
	*monoViewer
	ledger     ledger
	threads    map[uint64][]monoCall
	open       int // calls in all of them
	unfinished map[uint64]uint64
	calls      uint64
	ended      uint64 // without an event of their own
	unmatched  uint64 // leaves without an enter
	left       uint64 // calls that there was no room for
}

// A monoCall is one that has not ended.
type monoCall struct {
	method, time uint64
	inner        uint64 // nanoseconds in calls that it made, and that have ended
}

// maxOpen bounds the calls that have not ended, of all threads.
const maxOpen = 1 << 20

// stats shows how often methods were called and how long that took, as
// xrayViewer.stats does.
func (m *monoViewer) stats() {
	s := &monoStats{monoViewer: m, threads: make(map[uint64][]monoCall), unfinished: make(map[uint64]uint64)}
	at := m.header.Size
	for !m.lost() {
		b, err := m.reader.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			m.problem(offsetOf(err, at), err)
			continue
		}
		at = b.Offset + monoBufferHead
		thread := b.Thread
		for {
			e, err := m.reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				m.problem(offsetOf(err, at), fmt.Errorf("%w; the rest of the buffer is left out", err))
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

func (s *monoStats) event(thread uint64, e *monolog.Event) {
	switch e.Kind {
	case monolog.KindEnter:
		if s.open >= maxOpen {
			s.left++
			return
		}
		s.threads[thread] = append(s.threads[thread], monoCall{method: e.Method, time: e.Time})
		s.open++
	case monolog.KindLeave, monolog.KindExcLeave:
		s.leave(thread, e)
	}
}

// leave ends a call, and those that it made and that have no event of their own.
func (s *monoStats) leave(thread uint64, e *monolog.Event) {
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
		s.ledger.add(call.method, length, length-min(call.inner, length))
	}
	s.open -= len(stack) - i
	s.threads[thread] = stack[:i]
}

// since returns how long it is from a time to a later one, 0 if that is not later.
func since(from, to uint64) uint64 { return max(to, from) - from }

// end counts a call that no event ends.
func (s *monoStats) end(call monoCall) {
	if !s.wantedCall(call.method, call.time) {
		return
	}
	s.ended++
	if len(s.unfinished) < maxFunctions || s.unfinished[call.method] > 0 {
		s.unfinished[call.method]++
	}
}

func (s *monoStats) wantedCall(method, time uint64) bool {
	f := &s.opts.Filter
	return f.time(time, true) && (!f.Address.Set || f.Address.touches(method, 1)) &&
		(len(f.Names) == 0 || f.name([]byte(s.known.methods.names[method])))
}

func (s *monoStats) show() {
	o := s.out
	methods := (&callsTable{
		ledger: &s.ledger, unfinished: s.unfinished, unit: "ns", length: func(ns float64) float64 { return ns }, key: "method", hex: true,
		name: func(id uint64) string { return s.known.methods.names[id] },
	}).show(o)
	o.begin(item{offset: -1, typ: "total", size: -1})
	o.num("threads", uint64(len(s.threads)))
	o.num("functions", uint64(methods))
	o.num("calls", s.calls)
	o.num("unfinished", s.ended)
	o.num("unmatched_exits", s.unmatched)
	if s.left > 0 {
		o.num("calls_too_deep", s.left)
	}
	if s.ledger.refused > 0 {
		o.num("calls_of_further_functions", s.ledger.refused)
	}
	o.end()
}
