package checkmap

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/internal/words"
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
	// lowest and highest bound the addresses of user space.
	lowest, highest = 64 << 10, 1 << 63
	// largest is the size of the longest function in bytes.
	largest = 16 << 20
	// mostKept bounds the functions that are compared with others.
	mostKept = 1 << 20
)

func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &checker{Reporter: r, pid: processOf(path)}
	return verify.PlainError(c.check(ctx, io.NewSectionReader(f, 0, size)))
}

// check reads the lines. The error is of reading, or ctx's.
func (c *checker) check(ctx context.Context, src io.Reader) error {
	c.seen = make(map[lineKey]bool)
	r := perfmap.NewReader(src)
	all := 0
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		var fault *wire.Error
		switch {
		case errors.As(err, &fault) && fault.Field == "":
			c.Violation("perfmap/line-length", line.Offset, "%v", fault)
		case errors.As(err, &fault):
			c.Violation("perfmap/fields", line.Offset, "%v", fault)
		case err != nil:
			return err
		case c.line(&line):
			all++
		}
	}
	if at := r.Cut(); at >= 0 {
		c.Violation("perfmap/cut", at, "the last line has no newline")
	}
	if all == 0 {
		c.Violation("perfmap/no-functions", -1, "there is no function in it")
	}
	c.Result.Holds = words.Count(int64(all), "function")
	return nil
}

func (c *checker) line(l *perfmap.Line) bool {
	f := jitted.Function{Addr: l.Start, Size: l.Size, Offset: l.Offset}
	if f.Addr < lowest || f.Addr >= highest || f.Size > largest {
		c.Violation("perfmap/address", l.Offset, "%s has %d bytes from %#x on", verify.Quoted(l.Name), f.Size, f.Addr)
		return false
	}
	c.name(l.Name, l.Offset)
	c.place(&f, l.Name)
	return true
}

func (c *checker) name(name []byte, at int64) {
	if len(name) < 3 {
		c.Violation("perfmap/short-name", at, "the name %s has %s", verify.Quoted(name), words.Count(int64(len(name)), "byte"))
	}
	if !verify.IsText(name) {
		c.Violation("perfmap/name-text", at, "the name %s is not text", verify.Quoted(name))
	}
}

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
			c.Violation("perfmap/overlap", f.Offset, "%s at %#x, %s, is over the code in the line at %#x", verify.Quoted(name), f.Addr, words.Count(int64(int(f.Size)), "byte"), o.Offset)
		}
	})
	c.seen[key] = true
}

// Format is how maps are checked. A file with the name of a map is one, with any content.
var Format = verify.Format{
	Kind: "perf map", Name: "a perf map", Rules: rules, Check: checkFile,
	HasName: func(path string) bool { return processOf(path) != 0 },
}

// processOf returns the process in the name of a map, perf-PID.map, or 0.
func processOf(path string) uint32 {
	name, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(name, "perf-")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !isMap || !isPerf || err != nil {
		return 0
	}
	return uint32(n)
}

//go:embed rules.txt
var texts string

// rules are the rules for perf maps.
var rules = verify.ReadRules(texts)
