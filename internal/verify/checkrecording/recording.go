package checkrecording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/internal/words"
	"github.com/jitinject/jitinject/perfdata"
)

// A checker is a perf.data that is being checked.
type checker struct {
	*verify.Reporter
	rec     *recorded.File
	events  map[uint64]int // by id
	rounds  rounds
	objects map[string]*mappedObject          // by path
	checked map[sys.Inode]*checkobject.Object // a file may have many paths
	marker  string                            // the first dump that is named
	records int
	mapped  int // of objects
	samples samples
}

// A mappedObject is an object of jitted functions, as the recording has it.
type mappedObject struct {
	path     string
	mappings []jitMapping
	usable   bool // perf finds it, and takes it
}

// A jitMapping is a mapping of an object.
type jitMapping struct {
	pid              uint32
	addr, len, pgoff uint64
	id               [20]byte
	idSize           uint8
	at               int64 // offset of the record in the file
}

// checkFile checks a perf.data, in whatever form, and the objects it refers to.
func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	rec, err := recorded.Open(path)
	if err != nil {
		if errors.Is(err, perfdata.ErrNotPerfData) || errors.Is(err, perfdata.ErrNoData) || errors.Is(err, recorded.ErrOtherDir) || fileError(err) {
			return err
		}
		r.Result.Holds = "nothing that can be read"
		r.Violation("recording/header", verify.FaultAt(err, 0), "%v", err)
		return nil
	}
	defer rec.Close()
	return checkOpen(ctx, r, rec)
}

func checkOpen(ctx context.Context, r *verify.Reporter, rec *recorded.File) error {
	c := &checker{Reporter: r, rec: rec, objects: make(map[string]*mappedObject), checked: make(map[sys.Inode]*checkobject.Object)}
	c.rounds.off = rec.IsDir // each of its files has an order of its own
	if rec.Header.Header.Unfinished {
		c.Violation("recording/unfinished", 0, "the header does not say how much data there is")
	}
	c.attrs()
	if err := c.walk(ctx); err != nil {
		return err
	}
	if err := c.checkObjects(ctx); err != nil {
		return err
	}
	if c.mapped > 0 {
		c.Result.Samples, c.Result.Shown = c.samples.total, c.shown()
	}
	if len(c.objects) > 0 && c.marker != "" {
		c.Violation("recording/marker-left", -1, "it names %s, and %d objects of jitted functions", verify.Quoted(c.marker), len(c.objects))
	}
	c.Result.Holds = words.Count(int64(c.records), "record") + ", " + words.Count(int64(c.mapped), "mapping") + " of " + words.Count(int64(len(c.objects)), "object")
	return nil
}

func fileError(err error) bool {
	var errno interface{ Timeout() bool } // syscall.Errno, *os.PathError
	return errors.As(err, &errno)
}

func (c *checker) attrs() {
	c.events = make(map[uint64]int)
	for i := range c.rec.Attrs {
		a := &c.rec.Attrs[i]
		for _, id := range a.IDs {
			if first, twice := c.events[id]; twice && first != i {
				c.Violation("recording/ids", -1, "events %d and %d have the id %d", first, i, id)
			}
			c.events[id] = i
		}
	}
}

func (c *checker) walk(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := c.rec.Stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if fileError(err) {
				return verify.PlainError(err)
			}
			c.Violation("recording/record", verify.FaultAt(err, -1), "%v", err)
			break
		}
		for at, rec := range block.Records() {
			c.records++
			if err := c.record(rec, block.Offset+int64(at)); err != nil {
				c.Violation("recording/record", block.Offset+int64(at), "%v", err)
			}
		}
	}
	if text := perfdata.TextAfter(c.rec.Stream); text != "" {
		c.Violation("recording/text", c.rec.Stream.Cut(), "text follows the last record: %.300q", text)
	} else if cut := c.rec.Stream.Cut(); cut >= 0 {
		c.Violation("recording/cut", cut, "the data ends inside a record")
	}
	return nil
}

// record checks one record. at is its offset in the file, or of the compressed one
// that it is in.
func (c *checker) record(rec perfdata.Record, at int64) error {
	switch rec.Type {
	case perfdata.RecordSample:
		if len(c.rec.Attrs) == 0 {
			return perfdata.ErrNoEvents
		}
		if c.mapped == 0 { // no jitted function is known yet
			c.samples.total++
		}
	case perfdata.RecordFinishedRound:
		c.rounds.finished()
		return nil
	}
	if !rec.Type.IsKernel() {
		return nil
	}
	if n := len(rec.Data); n%8 != 0 {
		return fmt.Errorf("%s: its size, %d, is no multiple of 8", rec.Type, n)
	}
	if id, ok := c.rec.EventID(rec); ok && id != 0 && len(c.events) > 0 {
		if _, known := c.events[id]; !known {
			c.Violation("recording/sample-id", at, "%s: no event has the id %d", rec.Type, id)
			return nil
		}
	}
	time, timed := c.rec.Time(rec)
	if timed {
		if late := c.rounds.record(time); late > 0 {
			c.Violation("recording/order", at, "%s of the time %d.%09d s is %s older than records that a FINISHED_ROUND released", rec.Type, time/1e9, time%1e9, verify.Span(late))
		}
	}
	switch rec.Type {
	case perfdata.RecordSample:
		if c.rec.IsShortSample(rec) {
			return fmt.Errorf("%s of %d bytes is shorter than the fields of its event", rec.Type, len(rec.Data))
		}
		if c.mapped > 0 {
			c.samples.add(c.rec.SampleHead(rec))
		}
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := c.rec.Mmap(rec)
		if err != nil {
			return err
		}
		c.mmap(&m, rec, at)
	case perfdata.RecordComm:
		if _, err := c.rec.Comm(rec); err != nil {
			return err
		}
	case perfdata.RecordFork, perfdata.RecordExit:
		if _, err := c.rec.Task(rec); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) mmap(m *perfdata.Mmap, rec perfdata.Record, at int64) {
	if m.OfKernel() {
		return
	}
	name := string(m.Filename)
	switch {
	case jitted.IsObject(name):
		if mode := rec.Misc & recorded.CPUMode; mode != recorded.CPUModeUser {
			c.Violation("recording/object-mode", at, "the mapping of %s is of cpumode %d, not of user space", verify.Quoted(name), mode)
		} else if rec.Type == perfdata.RecordMmap2 && m.Prot&recorded.ProtExec == 0 {
			c.Violation("recording/object-mode", at, "the mapping of %s is not executable: its protection is %#x", verify.Quoted(name), m.Prot)
		}
		o := c.objects[name]
		if o == nil {
			o = &mappedObject{path: name}
			c.objects[name] = o
		}
		j := jitMapping{pid: m.PID, addr: m.Addr, len: m.Len, pgoff: m.PgOff, at: at, idSize: uint8(copy(make([]byte, 20), m.BuildID))}
		copy(j.id[:], m.BuildID)
		o.mappings = append(o.mappings, j)
		c.mapped++
	case jitted.IsMarker(name):
		c.marker = cmp.Or(c.marker, name)
	}
}
