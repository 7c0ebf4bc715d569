package checkdump

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump beside the recording that it was injected into: what the mappings show has to
// be the dump's code.

// injectedCode compares the functions of the dump with the mappings of objects in a result. Functions
// without a mapping were left out on purpose (--sampled), unless samples are in them.
func (c *checker) injectedCode(ctx context.Context, r *result) error {
	missing, err := r.NotMapped(ctx, r.pid, c.functions, c.first, r.Monotonic && !c.ticks)
	if err != nil {
		return err
	}
	for _, m := range missing {
		f := &c.functions[m.Function]
		c.Violation("dump/not-mapped", f.Offset, "%s in the code at %#x, which is not mapped then", verify.Are(m.Samples, "sample"), f.Addr)
	}
	shown := r.Objects[r.pid]
	slices.SortFunc(shown, func(a, b recorded.ObjectMapping) int { return cmp.Compare(a.Addr, b.Addr) })
	ends := make([]uint64, len(shown)) // the highest end up to each
	high := uint64(0)
	for i, s := range shown {
		high = max(high, s.Addr+s.Len)
		ends[i] = high
	}
	var object openObject
	defer object.close()
	var code, there []byte
	for i := range c.functions {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f := &c.functions[i]
		if f.Size == 0 || f.WithoutCode {
			continue
		}
		code = slices.Grow(code[:0], int(f.Size))[:f.Size]
		if _, err := c.src.ReadAt(code, f.End-int64(f.Size)); err != nil {
			return verify.PlainError(err)
		}
		n := sort.Search(len(shown), func(i int) bool { return shown[i].Addr > f.Addr })
		other := -1 // a mapping that shows something else
		for j := n - 1; j >= 0 && ends[j] > f.Addr && n-j <= recorded.MaxUnder; j-- {
			s := &shown[j]
			// What is at the place of code that was there before or after is somebody
			// else's; so a mapping has to have room for all of it.
			if f.Addr-s.Addr >= s.Len || f.Size > s.Len-(f.Addr-s.Addr) {
				continue
			}
			there = slices.Grow(there[:0], int(f.Size))[:f.Size]
			if !object.read(s.Path, there, int64(s.Pgoff+f.Addr-s.Addr)) {
				continue // said where the recording is checked
			}
			same := len(code)
			if c.engine != nil && c.engine.counts["salted-code"] > 0 && same >= codeSalt { // what is behind is in no program
				same -= codeSalt
			}
			if other = j; bytes.Equal(code[:same], there[:same]) {
				other = -1
				break
			}
		}
		if other >= 0 && !f.Gone { // or other code came to its place
			c.Violation("dump/injected-code", f.Offset, "the recording shows other code at %#x, from %s", f.Addr, verify.Quoted(shown[other].Path))
		}
	}
	return nil
}

// codeSalt is how many bytes at the end of each function's code CPython 3.15 replaces by a number.
const codeSalt = 8

// An openObject is the file that was read last.
type openObject struct {
	path string
	file *sys.File
}

func (o *openObject) close() {
	if o.file != nil {
		o.file.Close()
	}
}

// read fills b from a file, and reports whether it could.
func (o *openObject) read(path string, b []byte, at int64) bool {
	if o.path != path {
		o.close()
		o.path = path
		var err error
		if o.file, err = verify.Open(path); err != nil {
			o.file = nil
		}
	}
	if o.file == nil || at < 0 {
		return false
	}
	n, err := o.file.ReadAt(b, at)
	return n == len(b) && (err == nil || err == io.EOF)
}

// A result is a recording with the functions of a dump put in.
type result struct {
	*recorded.Contents
	pid uint32 // of the process with the functions
}

// results returns the recordings that have objects for the dump, which is to be checked if it belongs to one
// of the recordings, or if there are none. A recording that is not injected has to have the dump's marker. An
// injection reports whatever else is wrong between the two.
func (c *checker) results(ctx context.Context, path string, opts *verify.Options) (found []result, checked bool, err error) {
	reader, err := jitdump.NewReader(c.src)
	if err != nil || len(opts.Beside()) == 0 {
		return nil, true, nil // checkHeader reports the error
	}
	own, base := reader.Header().PID, filepath.Base(path)
	for _, recording := range opts.Beside() {
		contents, err := recorded.ReadContents(ctx, recording)
		if err != nil {
			return nil, false, err
		}
		pid, marked := own, false
		if p, ok := contents.Markers[base]; ok {
			pid, marked = p, true
		}
		if opts.Recording == "" && !marked && !contents.Known[pid] {
			continue
		}
		checked = true
		if owner := contents.Owner(pid); owner != 0 {
			found = append(found, result{contents, owner})
		} else if len(contents.Objects) == 0 && !marked {
			c.Violation("dump/marker", -1, "the recording has no marker of %s", verify.Quoted(base))
		}
	}
	if !checked {
		c.Result.Holds = "not checked"
		c.Violation("dump/other-process", -1, "of process %d, which is in none of the recordings: not checked", own)
	}
	return found, checked, nil
}
