package inject

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
)

// A plan says which objects there will be and which mappings tell of them.
// Building objects and writing records follow it and decide nothing.
type plan struct {
	objects  []object
	mappings []mapping // in the order of their times

	// Where functions are that have been dropped from the plan; nil if nobody asks.
	absent map[*dump][]addrRange
}

// An object is the file that a function goes into.
type object struct {
	dump     *dump
	function int // of the dump's source
	pid      uint32
	index    uint64
	repeat   int // counts objects that would have the same name; 0 for the first

	bundle *bundle // if it is one of many functions; function and index are zero then

	sent uint64 // bytes of unwind tables that its producer sent

	// Where stacks will be unwound: where its code is, and its tables seem to be, and how
	// many bytes there are for them; 0 if there is no place for them.
	placed           bool // that is decided
	codeAt, tablesAt uint64
	room             uint64

	// Filled when the object is made.
	buildID [jitobj.BuildIDSize]byte
	tables  jitobj.Tables
	made    bool
}

// A bundle is what an object of many functions has: the functions, in the order of their
// addresses, and the memory that it is about.
type bundle struct {
	members []member
	stretch jitobj.Stretch
}

// A member is a function in a bundle, and where it was in memory.
type member struct {
	function int // of the dump's source
	resident int // of the bundler
	addr     uint64
	again    bool // an earlier object of the plan has it as well
}

// bundleIDSize is how many bytes of its build id are in a bundle's name. A bundle is
// another one whenever a function comes or goes, and must not take the place of what an
// earlier result refers to.
const bundleIDSize = 4

// appendName appends the object's file name, that of a bundle once it is made. It is perf's for the first function
// of an index; perf lets a second one overwrite the first. No two objects of a
// recording have the same name, wherever they are: perf report takes objects of
// one name for one.
func (o *object) appendName(b []byte) []byte {
	if o.bundle != nil {
		b = append(b, bundlePrefix...)
		b = strconv.AppendUint(b, uint64(o.pid), 10)
		b = append(b, '-')
		b = strconv.AppendUint(b, o.bundle.stretch.Low, 16)
		b = append(b, '-')
		b = hex.AppendEncode(b, o.buildID[:bundleIDSize])
	} else {
		b = append(b, objectPrefix...)
		b = strconv.AppendUint(b, uint64(o.pid), 10)
		b = append(b, '-')
		b = strconv.AppendUint(b, o.index, 10)
	}
	if o.repeat > 0 {
		b = append(b, '-')
		b = strconv.AppendInt(b, int64(o.repeat)+1, 10)
	}
	return append(b, ".so"...)
}

// appendPath appends the object's absolute path. perf 7 takes the start of any mapping of
// /tmp/jitted-* for that of the file's code, but bundles are mapped in parts, too: their
// paths are spelled so that it does not.
func (o *object) appendPath(b []byte) []byte {
	if dir, ok := strings.CutPrefix(o.dump.objects, "/tmp/"); ok && o.bundle != nil && strings.HasPrefix(dir, objectPrefix) {
		b = append(b, "/tmp/./"...)
		b = append(b, dir...)
	} else {
		b = append(b, o.dump.objects...)
	}
	if len(b) == 0 || b[len(b)-1] != '/' {
		b = append(b, '/')
	}
	return o.appendName(b)
}

// A mapping is a record to be put into the recording: from its time on, an
// object's code is at an address of a process, or nothing is known about it.
type mapping struct {
	time      uint64
	pid, tid  uint32
	addr, len uint64
	off       uint64 // of what is at addr, from the start of the object's code
	tables    uint64 // where the object's unwind tables seem to be, or 0
	object    int    // of the plan
	clear     bool   // take away what was known of the range; object has left it

	copied addrRange // the second mapping that addr lies in, of a part of a file; or empty
}

// A planner makes a plan of one object for each function. Dumps may grow while it
// is at work.
type planner struct {
	plan
	rec   *recording
	sum   *Summary
	names objectNames
	files *fileCode
	rooms *rooms
	dumps []*plannedDump

	bundling bool // the plan is going to be one with bundles
	overlay  bool // functions of Mono that lie in files are named, too
}

// A plannedDump is a dump as far as it is part of the plan.
type plannedDump struct {
	*dump
	attribution *attribution
	events      int   // number planned so far
	objectOf    []int // by function; -1 without object
	repeats     map[int]bool
	places      *places // nil until code moves
	derives     bool    // frames from code, in a stream
	derivedWith int     // the result of fileMapCount then
	neighbours  neighbours

	// In a stream: the file, and that its processes have ended and all has been read.
	info os.FileInfo
	over bool
}

func newPlanner(rec *recording, sum *Summary) *planner {
	return &planner{rec: rec, sum: sum, files: newFileCode(rec), rooms: newRooms(rec)}
}

// makePlan makes the plan for all dumps, of one object for each function.
func makePlan(rec *recording, dumps []*dump, opts *Options, sum *Summary) *planner {
	p := newPlanner(rec, sum)
	p.bundling, p.overlay = opts.Bundle || rec.copiesStacks(), opts.MonoAOT
	for _, d := range dumps {
		pd := p.add(d)
		pd.attribution.look()
		pd.repeats = pd.findRepeats(p.files)
		p.extend(pd)
	}
	p.finish()
	if !slices.IsSortedFunc(p.mappings, byTimeOfMapping) {
		slices.SortStableFunc(p.mappings, byTimeOfMapping)
	}
	if opts.Sampled && opts.Bundle {
		p.absent = make(map[*dump][]addrRange)
	}
	return p
}

func byTimeOfMapping(a, b mapping) int { return cmp.Compare(a.time, b.time) }

// add takes in a dump without any events yet.
func (p *planner) add(d *dump) *plannedDump {
	d.number = len(p.dumps)
	kind := KindJitdump
	if isMono(d.source) {
		kind = KindMono
	}
	p.sum.Dumps = append(p.sum.Dumps, DumpSummary{PID: d.pid, Kind: kind, Path: d.path, Note: d.note, Objects: d.objects, Clock: d.match, CodeFiles: d.codeFiles, Late: d.late, Cut: -1, Repairs: []Repair{}})
	pd := &plannedDump{dump: d, attribution: newAttribution(p.rec, d)}
	pd.reportCaptures(&p.sum.Dumps[d.number])
	p.dumps = append(p.dumps, pd)
	return pd
}

// finish adds what is to be said of the dumps as a whole.
func (p *planner) finish() {
	for _, d := range p.dumps {
		p.sum.Dumps[d.number].Cut, p.sum.Dumps[d.number].CutName = d.source.Scanned().Cut, d.source.Scanned().CutName
		for _, q := range d.source.Scanned().Problems {
			p.sum.problem(Problem{File: d.path, Offset: q.Offset, Text: q.Text, Advice: adviceVerify(d.path)})
		}
		if n := d.source.Scanned().Dropped; n > 0 {
			p.sum.problem(Problem{File: d.path, Offset: -1, Text: fmt.Sprintf("%d more problems like these", n), Advice: adviceVerify(d.path)})
		}
		d.reportMono(p.sum)
		d.lineProblems(p.sum)
		for _, text := range d.attribution.problems() {
			p.sum.problem(Problem{File: d.path, Offset: -1, Text: text, Advice: "record all of them: start perf record before they are forked, or with -a"})
		}
	}
}

// objectDir returns the directory for the objects of a dump, absolute: the name
// of a mapped file means nothing without.
func (o *Options) objectDir(d *dump) (string, error) {
	if o.Objects != "" {
		return filepath.Abs(o.Objects)
	}
	if d.live { // what is put into the directory of a process ends with it
		return filepath.Abs(filepath.Dir(o.Output))
	}
	return filepath.Abs(filepath.Dir(d.path))
}

// extend plans the events that d's source has read since it was called last. The
// mappings come in the order of their times, behind those that were there.
func (p *planner) extend(d *plannedDump) {
	events := d.source.Scanned().Events[d.events:]
	if len(events) == 0 {
		return
	}
	d.events += len(events)
	d.attribution.look()
	ds := &p.sum.Dumps[d.number]
	p.objects = slices.Grow(p.objects, len(events))
	for i := range events {
		e := &events[i]
		if e.Kind != jitcode.Load {
			continue
		}
		d.objectOf = append(d.objectOf, -1)
		if d.strays[e.Function] {
			continue
		}
		ds.Functions++
		if e.Size == 0 {
			ds.Empty++
			continue
		}
		pid, _, ok := d.attribution.of(e)
		if !ok || d.leftOut[e.Function] {
			continue
		}
		if d.repeats[e.Function] {
			ds.Repeated++
			continue
		}
		if !p.overlay && isMono(d.source) && p.files.holds(pid, d.clock(e.Time), e.Addr, e.Size) {
			ds.InImages++
			continue
		}
		d.objectOf[e.Function] = len(p.objects)
		o := object{dump: d.dump, function: e.Function, pid: pid, index: e.Index, sent: e.Tables}
		if !p.bundling { // or else few of them will need one
			o.repeat = p.names.next(&o, p.objects)
		}
		p.objects = append(p.objects, o)
	}
	d.neighbours = newNeighbours(d.source.Scanned().Events)
	if p.rec.copiesStacks() {
		p.rooms.look(d.dump, events)
	}
	if d.places == nil && slices.ContainsFunc(events, func(e jitcode.Event) bool { return e.Kind == jitcode.Move }) {
		d.places = newPlaces(&p.rec.genealogy)
		p.mapEvents(d, d.source.Scanned().Events[:d.events-len(events)], false)
	}
	p.mappings = slices.Grow(p.mappings, len(events))
	p.mapEvents(d, events, true)
}

// mapEvents adds the mappings of events, and takes note of where code is if that
// matters. Events that are planned already are only taken note of.
func (p *planner) mapEvents(d *plannedDump, events []jitcode.Event, add bool) {
	waiting := uint64(0)
	for i := range events {
		waiting += tableRoom(events[i].Size, events[i].Tables)
	}
	for _, i := range byTime(events) {
		e := &events[i]
		if d.objectOf[e.Function] < 0 {
			continue
		}
		if e.Kind == jitcode.Move && add {
			p.sum.Dumps[d.number].Moved++
		}
		d.attribution.share(e, func(pid, tid uint32) {
			m := mapping{time: d.clock(e.Time), pid: pid, tid: tid, addr: e.Addr, len: e.Size, object: d.objectOf[e.Function]}
			if d.places != nil {
				o := d.places.of(pid, m.time)
				if e.Kind == jitcode.Move && add && d.match.Kind != ClockNone { // without times it is at both places all the time
					p.leave(m, o.owned(e.OldAddr, e.OldAddr+e.Size, e.Function))
				}
				o.place(e.Addr, e.Addr+e.Size, e.Function)
			}
			if add {
				before := len(p.mappings)
				p.mappings = p.files.spread(p.mappings, m)
				for i := before; i < len(p.mappings); i++ {
					p.placeTables(&p.mappings[i], e, d.dump, waiting)
				}
			}
		})
	}
}

// byTime returns the numbers of events in the order of their times. Threads may
// write their records a little later than what happened later.
func byTime(events []jitcode.Event) []int {
	order := make([]int, len(events))
	for i := range order {
		order[i] = i
	}
	earlier := func(a, b int) int { return cmp.Compare(events[a].Time, events[b].Time) }
	if !slices.IsSortedFunc(order, earlier) {
		slices.SortStableFunc(order, earlier)
	}
	return order
}

// neighbours are the addresses at which code of a dump begins, in order. They are
// collected only if functions have unwind tables in memory.
type neighbours []uint64

func newNeighbours(events []jitcode.Event) neighbours {
	if !slices.ContainsFunc(events, func(e jitcode.Event) bool { return e.Tables > 0 }) {
		return nil
	}
	n := make(neighbours, len(events))
	for i := range events {
		n[i] = events[i].Addr
	}
	slices.Sort(n)
	return n
}

// withTables returns the length of a mapping that covers a function's code and
// the unwind tables behind it, where libunwind looks for them. It ends before the
// next function: CPython's trampolines claim tables but lie closer together.
func (n neighbours) withTables(e *jitcode.Event) uint64 {
	want := (e.Size+7)&^7 + e.Tables
	i, _ := slices.BinarySearch(n, e.Addr+e.Size)
	if i < len(n) && n[i]-e.Addr < want {
		want = n[i] - e.Addr
	}
	return want
}

// leave adds mappings that take m's function away from where it was, except
// where it will be again.
func (p *planner) leave(m mapping, parts []tenancy) {
	m.clear = true
	lo, hi := m.addr, m.addr+m.len
	for _, t := range parts {
		for _, part := range [][2]uint64{{t.lo, min(t.hi, lo)}, {max(t.lo, hi), t.hi}} {
			if part[0] < part[1] {
				m.addr, m.len = part[0], part[1]-part[0]
				p.mappings = append(p.mappings, m)
			}
		}
	}
}
