package checkmap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
)

// A checker checks one map.
type checker struct {
	*verify.Reporter
	pid       uint32 // in the map's name, or 0
	functions []jitted.Function
	seen      map[lineKey]bool
	places    jitted.Places
}

// A lineKey is the content of a line.
type lineKey struct {
	addr, size uint64
	name       string
}

const (
	// longest is the length of the longest line in bytes.
	longest = 64 << 10
	// lowest and highest bound the addresses of user space.
	lowest, highest = 64 << 10, 1 << 63
	// largest is the size of the longest function in bytes.
	largest = 16 << 20
	// mostKept bounds the functions that are compared with others and with recordings.
	mostKept = 1 << 20
)

func checkFile(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{Reporter: r, pid: processOf(path)}
	if err := c.check(ctx, io.NewSectionReader(f, 0, size)); err != nil {
		return verify.PlainError(err)
	}
	return c.besideRecordings(ctx, opts)
}

// check reads the lines. The error is of reading, or ctx's.
func (c *checker) check(ctx context.Context, src io.Reader) error {
	c.seen = make(map[lineKey]bool)
	r := bufio.NewReaderSize(src, longest)
	at, all := int64(0), 0
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := r.ReadSlice('\n')
		begin := at
		at += int64(len(text))
		if errors.Is(err, bufio.ErrBufferFull) {
			c.Violation("perfmap/line-length", begin, "a line has more than %d bytes", longest)
			for errors.Is(err, bufio.ErrBufferFull) {
				text, err = r.ReadSlice('\n')
				at += int64(len(text))
			}
			text = nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		if whole, found := bytes.CutSuffix(text, []byte("\n")); found {
			text = whole
		} else if len(text) > 0 {
			c.Violation("perfmap/cut", begin, "the last line has no newline")
		}
		if len(bytes.Trim(text, " \t")) > 0 && c.line(text, begin) {
			all++
		}
		if err == io.EOF {
			break
		}
	}
	if all == 0 {
		c.Violation("perfmap/no-functions", -1, "there is no function in it")
	}
	c.Result.Holds = verify.Counted(all, "function")
	return nil
}

// line checks a line at an offset. It reports whether that is a function.
func (c *checker) line(text []byte, at int64) bool {
	var numbers [2]uint64
	rest := bytes.TrimLeft(text, " \t")
	for i, field := range []string{"START", "SIZE"} {
		end := bytes.IndexAny(rest, " \t")
		if end < 0 {
			c.Violation("perfmap/fields", at, "nothing follows %s", field)
			return false
		}
		digits := bytes.TrimPrefix(bytes.TrimPrefix(rest[:end], []byte("0x")), []byte("0X"))
		n, err := strconv.ParseUint(string(digits), 16, 64)
		if err != nil {
			c.Violation("perfmap/number", at, "%s is %s", field, verify.Quoted(rest[:end]))
			return false
		}
		numbers[i] = n
		if rest = rest[end:]; i == 0 {
			rest = bytes.TrimLeft(rest, " \t")
		}
	}
	name := rest[1:]
	if len(name) == 0 {
		c.Violation("perfmap/fields", at, "there is no NAME")
		return false
	}
	f := jitted.Function{Addr: numbers[0], Size: numbers[1], Offset: at, WithoutCode: true}
	if f.Addr < lowest || f.Addr >= highest || f.Size > largest {
		c.Violation("perfmap/address", at, "%s has %d bytes from %#x on", verify.Quoted(name), f.Size, f.Addr)
		return false
	}
	c.name(name, at)
	c.place(&f, name)
	return true
}

// name checks a name.
func (c *checker) name(name []byte, at int64) {
	if len(name) < 3 {
		c.Violation("perfmap/short-name", at, "the name %s has %s", verify.Quoted(name), verify.Counted(len(name), "byte"))
	}
	if !verify.IsText(name) {
		c.Violation("perfmap/name-text", at, "the name %s is not text", verify.Quoted(name))
	}
}

// place compares a function with earlier ones.
func (c *checker) place(f *jitted.Function, name []byte) {
	if len(c.functions) >= mostKept || len(c.functions) == math.MaxInt32 {
		return
	}
	if f.Size == 0 {
		c.Violation("perfmap/size-zero", f.Offset, "%s has no size", verify.Quoted(name))
	}
	key := lineKey{f.Addr, f.Size, string(name)}
	if c.seen[key] {
		c.Violation("perfmap/twice", f.Offset, "%s at %#x is in a line before", verify.Quoted(name), f.Addr)
	}
	i := int32(len(c.functions))
	c.functions = append(c.functions, *f)
	c.places.Put(c.functions, i, func(under int32) {
		if o := &c.functions[under]; !c.seen[key] || o.Addr != f.Addr || o.Size != f.Size {
			c.Violation("perfmap/overlap", f.Offset, "%s at %#x, %s, is over the code in the line at %#x", verify.Quoted(name), f.Addr, verify.Counted(int(f.Size), "byte"), o.Offset)
		}
	})
	c.seen[key] = true
}
