package model

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/recording"
)

// tightPrefix is how the paths of perf inject's objects begin, mostly.
const tightPrefix = "/tmp/jitted-"

// IsTight reports whether perf takes the objects in a directory for perf inject's own,
// by their paths.
func IsTight(dir string) bool { return dir == "/tmp" || strings.HasPrefix(dir, tightPrefix) }

// A Plan says which objects there will be and which mappings tell of them.
// Building objects and writing records follow it and decide nothing.
type Plan struct {
	Objects  []Object
	Mappings []Mapping // in the order of their times

	// Where functions are that have been dropped from the plan; nil if nobody asks.
	Absent map[*Dump][]addrs.Range
}

// An Object is the file that a function goes into.
type Object struct {
	Dump     *Dump
	Function int // of the dump's source
	PID      uint32
	Index    uint64
	Repeat   int // counts objects that would have the same name; 0 for the first

	Bundle *Bundle // if it is one of many functions; function and index are zero then

	Sent uint64 // bytes of unwind tables that its producer sent

	// Where stacks will be unwound: where its code is, and its tables seem to be, and how
	// many bytes there are for them; 0 if there is no place for them.
	Placed           bool // that is decided
	CodeAt, TablesAt uint64
	Room             uint64

	// Filled when the object is made.
	BuildID [jitobj.BuildIDSize]byte
	Tables  jitobj.Tables
	Made    bool
}

// A Bundle is what an object of many functions has: the functions, in the order of their
// addresses, and the memory that it is about.
type Bundle struct {
	Members []Member
	Region  jitobj.Region
}

// A Member is a function in a bundle, and where it was in memory.
type Member struct {
	Function int // of the dump's source
	Placed   int // of the bundler
	Addr     uint64
	Again    bool // an earlier object of the plan has it as well
}

// bundleIDSize is how many bytes of its build id are in a bundle's name. A bundle is
// another one whenever a function comes or goes, and must not take the place of what an
// earlier result refers to.
const bundleIDSize = 4

// AppendName appends the object's file name, that of a bundle once it is made. It is perf's for the first function
// of an index; perf lets a second one overwrite the first. No two objects of a
// recording have the same name, wherever they are: perf report takes objects of
// one name for one.
func (o *Object) AppendName(b []byte) []byte {
	if o.Bundle != nil {
		b = append(b, recording.BundlePrefix...)
		b = strconv.AppendUint(b, uint64(o.PID), 10)
		b = append(b, '-')
		b = strconv.AppendUint(b, o.Bundle.Region.Low, 16)
		b = append(b, '-')
		b = hex.AppendEncode(b, o.BuildID[:bundleIDSize])
	} else {
		b = append(b, recording.ObjectPrefix...)
		b = strconv.AppendUint(b, uint64(o.PID), 10)
		b = append(b, '-')
		b = strconv.AppendUint(b, o.Index, 10)
	}
	if o.Repeat > 0 {
		b = append(b, '-')
		b = strconv.AppendInt(b, int64(o.Repeat)+1, 10)
	}
	return append(b, ".so"...)
}

// AppendPath appends the object's absolute path. perf 7 takes the start of any mapping of
// /tmp/jitted-* for that of the file's code, but bundles are mapped in parts, too: their
// paths are spelled so that it does not.
func (o *Object) AppendPath(b []byte) []byte {
	if dir, ok := strings.CutPrefix(o.Dump.Objects, "/tmp/"); ok && o.Bundle != nil && strings.HasPrefix(dir, recording.ObjectPrefix) {
		b = append(b, "/tmp/./"...)
		b = append(b, dir...)
	} else {
		b = append(b, o.Dump.Objects...)
	}
	if len(b) == 0 || b[len(b)-1] != '/' {
		b = append(b, '/')
	}
	return o.AppendName(b)
}

// A Mapping is a record to be put into the recording: from its time on, an
// object's code is at an address of a process, or nothing is known about it.
type Mapping struct {
	Time      uint64
	PID, TID  uint32
	Addr, Len uint64
	Off       uint64 // of what is at addr, from the start of the object's code
	Tables    uint64 // where the object's unwind tables seem to be, or 0
	Object    int    // of the plan
	Clear     bool   // take away what was known of the range; object has left it

	Copied addrs.Range // the second mapping that addr lies in, of a part of a file; or empty
}

// Functions counts the functions of a plan.
func (p *Plan) Functions() (n int) {
	for i := range p.Objects {
		if b := p.Objects[i].Bundle; b != nil {
			n += len(b.Members)
		} else {
			n++
		}
	}
	return n
}
