package stays

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
)

// A simulation is a process that uses memory again and again.
type simulation struct {
	*rand.Rand
	logs   []*Log
	loads  *Loads
	truth  []tenancy       // in the order of their times
	begins [][]int64       // by log and isolate
	dumped map[[2]int]bool // log and code of functions that are in the dump, and do not move
}

// A tenancy is code that came to a place at a time of the recording.
type tenancy struct {
	addr, size uint64
	time       int64
	log, code  int // log is -1 for code of the dump only
	gone       int64
}

const simulated = 1000000 // nanoseconds

// simulate makes logs of isolates that begin at some time, and share memory.
func simulate(seed uint64) *simulation {
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 1)), loads: NewLoads(), dumped: make(map[[2]int]bool)}
	s.logs = make([]*Log, 1+s.IntN(3))
	for i := range s.logs {
		isolates := 1 + s.IntN(2)
		s.logs[i] = &Log{Ends: make([]uint64, isolates)}
		s.begins = append(s.begins, nil)
		for range isolates {
			begin := int64(s.IntN(simulated / 4))
			s.begins[i] = append(s.begins[i], begin)
			b := Bounds{begin, begin}
			if s.IntN(4) > 0 {
				b = Bounds{begin - int64(s.IntN(simulated/20)), begin + int64(s.IntN(simulated/20))}
			}
			s.logs[i].Offsets = append(s.logs[i].Offsets, b)
		}
	}
	now := int64(simulated / 4)
	hasDump := s.IntN(2) == 0
	for range 60 {
		now += int64(1 + s.IntN(simulated/50))
		s.load(now, hasDump && now < simulated/2)
	}
	return s
}

// load adds code at a time. Then other code at its place is gone.
func (s *simulation) load(now int64, isDumped bool) {
	log := s.IntN(len(s.logs))
	l := s.logs[log]
	isolate := s.IntN(len(l.Ends))
	from := uint64(now - s.begins[log][isolate])
	stay := Stay{Code: int32(len(l.Codes)), Addr: 0x100000 + 64*uint64(s.IntN(12)), Size: 64 * uint64(1+s.IntN(3)), From: from, To: from}
	if k := s.IntN(8); k == 0 && len(l.Codes) > 0 { // code moves
		c := s.IntN(len(l.Codes))
		if int(l.Codes[c].Isolate) != isolate {
			return
		}
		for i := range s.truth {
			if t := &s.truth[i]; t.log == log && t.code == c && t.gone == 0 {
				t.gone = now
				delete(s.dumped, [2]int{log, c})
				stay.Code, stay.Size = int32(c), t.size
				stay.From = l.Ends[isolate] // the time of the line before
				goto place
			}
		}
		return
	}
	l.Codes = append(l.Codes, Code{Key: uint64(len(l.Codes))<<8 | uint64(log), Isolate: int32(isolate), First: int32(len(l.Stays))})
place:
	l.Stays = append(l.Stays, stay)
	l.Ends[isolate] = from
	for i := range s.truth {
		if t := &s.truth[i]; t.gone == 0 && t.addr < stay.Addr+stay.Size && stay.Addr < t.addr+t.size {
			t.gone = now
		}
	}
	s.truth = append(s.truth, tenancy{addr: stay.Addr, size: stay.Size, time: now, log: log, code: int(stay.Code)})
	if isDumped && stay.From == stay.To {
		s.loads.Add(stay.Addr, stay.Size, l.Codes[stay.Code].Key, now)
		s.dumped[[2]int{log, int(stay.Code)}] = int(l.Codes[stay.Code].First) == len(l.Stays)-1
	}
}

// at returns the code that is at an address at a time.
func (s *simulation) at(addr uint64, time int64) (log, code int) {
	for i := range slices.Backward(s.truth) {
		if t := &s.truth[i]; t.time <= time && t.addr <= addr && addr < t.addr+t.size {
			if t.gone != 0 && t.gone <= time {
				return -1, -1
			}
			return t.log, t.code
		}
	}
	return -1, -1
}

// shown returns what the events of a log show at an address, at a time of the recording, and since when.
func shown(events []jitcode.Event, sizes map[int]uint64, addr uint64, time int64) (code int, since int64) {
	places := make(map[int]uint64)
	code = -1
	var owner = -1
	for _, e := range events {
		if int64(e.Time) > time {
			break
		}
		inside := e.Addr <= addr && addr < e.Addr+sizes[int(e.Function)]
		switch {
		case e.Kind == jitcode.Gone:
			if places[int(e.Function)] == e.Addr && owner == int(e.Function) && inside {
				owner, since = -1, int64(e.Time)
			}
			delete(places, int(e.Function))
			continue
		case e.Kind == jitcode.Move && owner == int(e.Function) && !inside:
			owner, since = -1, int64(e.Time)
		}
		places[int(e.Function)] = e.Addr
		if inside {
			owner, since = int(e.Function), int64(e.Time)
		}
	}
	return owner, since
}

// No event of a log names a function where another one is, for all beginnings within the bounds.
func TestArrange_NoWrongNames(t *testing.T) {
	right, none := 0, 0
	for seed := range uint64(300) {
		s := simulate(seed)
		f := &Life{rec: &recording.Recording{Processes: recording.Processes{9: {}}}, pid: 9, end: never, steady: true}
		f.starts = recording.StartsOf(f.rec, 9, recording.LatestTime)
		Arrange(f, s.logs, s.loads)
		sizes := make([]map[int]uint64, len(s.logs))
		for i, l := range s.logs {
			l.Events = slices.DeleteFunc(l.Events, func(e jitcode.Event) bool { return s.dumped[[2]int{i, int(e.Function)}] }) // parts of the dump
			sizes[i] = make(map[int]uint64)
			for _, stay := range l.Stays {
				sizes[i][int(stay.Code)] = stay.Size
			}
		}
		for range 400 {
			addr, time := 0x100000+64*uint64(s.IntN(14)), int64(s.IntN(2*simulated))
			log, code := s.at(addr, time)
			best, since := -1, int64(-1)
			for i, l := range s.logs { // of several logs, the last mapping counts
				if c, at := shown(l.Events, sizes[i], addr, time); at > since {
					best, since = i<<16|c, at
					if c < 0 {
						best = -1
					}
				}
			}
			for i := range s.loads.arrivals { // perf shows the dump's as well
				if a := &s.loads.arrivals[i]; a.addr <= addr && addr < a.addr+a.size && a.since <= time && a.since > since {
					best, since = -1, a.since
				}
			}
			switch {
			case log < 0 || best < 0 && since < 0:
			case best < 0:
				none++
			case best != log<<16|code:
				t.Fatalf("seed %d: got %s at %#x at %d; want %s", seed, name(best), addr, time, name(log<<16|code))
			default:
				right++
			}
		}
	}
	if right < none {
		t.Errorf("got %d right names and %d places without; want more names", right, none)
	}
}

func name(id int) string { return fmt.Sprintf("function %d of log %d", id&0xffff, id>>16) }
