package model

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/recording"
)

// tightPrefix is how the paths of perf inject's objects mostly begin.
const tightPrefix = "/tmp/jitted-"

// IsTight reports whether perf takes objects in a directory for perf inject's own, by their
// paths.
func IsTight(dir string) bool { return dir == "/tmp" || strings.HasPrefix(dir, tightPrefix) }

// Functions are the functions of all dumps, and the places where processes have them. A layout
// divides them among objects.
type Functions struct {
	List     []Function
	Mappings []Mapping // in the order of their times; each is of one function
}

// A Function is a function of a dump that some process has. (There may be a million.)
type Function struct {
	Dump   *Dump
	Index  uint64 // the number in the name that perf inject gives its object
	Number int32  // of the dump's source
	Sent   uint32 // size of the unwind tables that its producer sent, in bytes
	PID    uint32 // in the name of its object

	// IsRepeated says that an earlier object of the process has the same index. It is false for functions in
	// bundles.
	IsRepeated bool
}

// A Plan has the objects that a run makes, and their mappings. Later stages follow it and decide
// nothing.
type Plan struct {
	Objects  []Object
	Mappings []Mapping // in the order of their times
}

// An Object is the file for a function, or for several (Bundle).
type Object struct {
	// Function is that of the object; of a bundle, it has a dump with some of its functions, and the process
	// in the object's name. (It is a pointer for its size: there may be a million objects.)
	*Function
	Bundle *Bundle // its functions if there may be several, or else nil
	// These are set when the object is made.
	BuildID [jitobj.BuildIDSize]byte
	Made    bool
}

// Dumps returns the dumps of the object's functions.
func (o *Object) Dumps() []*Dump {
	dumps := []*Dump{o.Dump}
	if o.Bundle != nil {
		dumps = append(dumps, o.Bundle.Others...)
	}
	return dumps
}

// A Placement tells where the unwind tables of a bundle are.
type Placement struct {
	CodeAt   uint64        // address of the object's code
	TablesAt uint64        // address of the tables, or 0 if none is free
	Room     uint64        // bytes reserved at TablesAt
	Tables   jitobj.Tables // set when the object is made
}

// A Bundle is the content of an object of many functions: the functions, in the order of their
// addresses, and the memory that they lie in.
type Bundle struct {
	Members   []Member
	Region    jitobj.Region
	Others    []*Dump    // those of its functions beside the object's dump
	Placement *Placement // of its unwind tables; nil for skeletons, and in recordings without copies of stacks
	// Skeleton is the file that the functions lie in, if the object is a skeleton of it, or else nil.
	Skeleton *Skeleton
}

// A Skeleton is a file whose place in memory an object takes without a change for unwinders: it
// has the file's program headers and unwind tables, at the file's own offsets and addresses.
type Skeleton struct {
	Rec *recording.Recording
	Map *recording.FileMap // of the functions
}

// Start returns the address at which the file would begin in memory.
func (s *Skeleton) Start() uint64 { return s.Map.Lo - s.Map.Off }

// A Member is a function in a bundle, with its address.
type Member struct {
	Dump     *Dump
	Addr     uint64
	Function int32 // of the dump's source
	Again    bool  // an earlier object of the plan has the function as well
	Frames   bool  // only its unwind table is in the object; the rest is in another one at the same place
}

// firstMade is the lowest number in the name of an object that is made of its contents. No runtime
// counts so far, so it is never the index of a function. Numbers up to 2^63 fit in the signed integers
// of scripts and databases.
const firstMade = 1 << 62

// HasMadeNumber reports whether the number in the object's name is made of its contents.
func (o *Object) HasMadeNumber() bool {
	return o.Bundle != nil || o.IsRepeated || o.Index >= firstMade
}

// AppendName appends the object's file name, jitted-PID-NUMBER.so, as perf inject's objects are called.
// Unless the number is the object's index, the name is complete once BuildID is set.
//
// The first function of an index has the same name as with perf, where a second one overwrites the
// first. The second one, and a bundle, have a number made of their build ids: no two objects of a
// recording have the same name, even in different directories, because perf report takes objects of
// one name for one. And a bundle, which changes whenever a function comes or goes, does not replace one
// that an earlier result refers to.
func (o *Object) AppendName(b []byte) []byte {
	number := o.Index
	if o.HasMadeNumber() {
		number = firstMade | binary.BigEndian.Uint64(o.BuildID[:])>>2
	}
	b = append(b, recording.ObjectPrefix...)
	b = strconv.AppendUint(b, uint64(o.PID), 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, number, 10)
	return append(b, ".so"...)
}

// AppendPath appends the object's absolute path. perf 7 takes the start of any mapping of
// /tmp/jitted-* for that of the file's code. But bundles are mapped in parts, too, so the paths of
// objects with made numbers are spelled differently: /tmp/./jitted-*.
func (o *Object) AppendPath(b []byte) []byte {
	dir := o.Dump.Objects
	if o.HasMadeNumber() && IsTight(dir) {
		dir = "/tmp/." + strings.TrimPrefix(dir, "/tmp")
	}
	b = append(b, dir...)
	if len(b) == 0 || b[len(b)-1] != '/' {
		b = append(b, '/')
	}
	return o.AppendName(b)
}

// A Mapping says that from its time on, the code of a function or an object is at an address of a
// process, or that nothing is known about the range. Each of those of a plan becomes a record.
// Time is in nanoseconds of the recording's clock.
type Mapping struct {
	Time, Addr, Len uint64
	PID, TID        uint32
	Object          int32    // index in the plan's objects, or in the list of functions
	Clear           bool     // clear the range; the object has left it
	Home            bool     // it lies in a file that keeps its place, so its object is a skeleton of that
	Tables          bool     // the object's unwind tables are mapped as well
	Excerpt         *Excerpt // nil for most mappings of functions: there may be a million
}

// An Excerpt says what a mapping has a part of.
type Excerpt struct {
	// Off is the distance of the code at the mapping's address from the start of the object's code, in bytes.
	Off uint64
	// Copied is the second mapping of a part of a file that the address lies in. It is empty if there is none.
	Copied addrs.Range
}

// Of returns the excerpt that a mapping has.
func (m *Mapping) Of() (e Excerpt) {
	if m.Excerpt != nil {
		e = *m.Excerpt
	}
	return e
}

// DropUnmapped drops the objects that no mapping shows: clean would not find them. An example is that of code which
// other code covers all the time. The ranges that they clear are cleared with another object of their dump.
func (p *Plan) DropUnmapped() {
	isMapped := make([]bool, len(p.Objects))
	for i := range p.Mappings {
		if m := &p.Mappings[i]; !m.Clear {
			isMapped[m.Object] = true
		}
	}
	if !slices.Contains(isMapped, false) {
		return
	}
	all, numbers, any := p.Objects, make([]int32, len(isMapped)), make(map[*Dump]int32)
	p.Objects = nil
	for i := range all {
		if isMapped[i] {
			numbers[i] = int32(len(p.Objects))
			any[all[i].Dump] = numbers[i]
			p.Objects = append(p.Objects, all[i])
		}
	}
	mappings := p.Mappings
	p.Mappings = nil
	for _, m := range mappings {
		number, ok := any[all[m.Object].Dump]
		if isMapped[m.Object] {
			number = numbers[m.Object]
		}
		if m.Object = number; ok {
			p.Mappings = append(p.Mappings, m)
		}
	}
}

// NumFunctions returns the number of functions in the objects of a plan.
func (p *Plan) NumFunctions() (n int) {
	for i := range p.Objects {
		if b := p.Objects[i].Bundle; b != nil {
			n += len(b.Members)
		} else {
			n++
		}
	}
	return n
}

// MostMappings returns the number of mappings of the process that has most.
func (p *Plan) MostMappings() (most int) {
	of := make(map[uint32]int)
	for i := range p.Mappings {
		m := &p.Mappings[i]
		of[m.PID]++
		most = max(most, of[m.PID])
	}
	return most
}
