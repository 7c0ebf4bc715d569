package showmap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
)

// Format is the format of perf maps.
var Format = show.Format{
	Name:   "a perf map",
	Begins: begins,
	Show:   showMap,
	Types:  []string{"function", "total"},
}

// begins reports whether bytes may be the first ones of a map: a number in hexadecimal with at least
// 4 digits, and perhaps a second one.
func begins(head []byte) bool {
	start, rest, _ := bytes.Cut(head, []byte(" "))
	start = bytes.TrimPrefix(start, []byte("0x"))
	return len(start) >= 4 && isHex(start) && isHex(bytes.TrimPrefix(rest, []byte("0x")))
}

func isHex(digits []byte) bool {
	return !bytes.ContainsFunc(digits, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}

// A total has the numbers of functions, of their bytes, of those without a size, and of damaged lines.
type total struct{ functions, bytes, empty, damaged uint64 }

// showMap shows a map.
func showMap(v *show.Viewer) error {
	if err := v.NoCode("perf map"); err != nil {
		return err
	}
	src := v.Pipe
	if v.File != nil {
		src = io.NewSectionReader(v.File, 0, v.Size)
	}
	v.Begun("perf map")
	pid, ok := processOf(v.Path)
	if ok {
		v.Out.Num("pid", uint64(pid))
	}
	v.Out.End()
	f := &v.Opts.Filter
	if len(f.PIDs) > 0 && (!ok || !f.MatchesPID(pid)) {
		return nil
	}
	t := functions(v, perfmap.NewReader(src))
	if f.MatchesType("total") && !f.IsPicky() {
		v.Out.Begin(show.Item{Offset: -1, Type: "total", Size: -1})
		v.Out.Num("functions", t.functions)
		v.Out.Num("bytes", t.bytes)
		if t.empty > 0 {
			v.Out.Num("without_size", t.empty)
		}
		if t.damaged > 0 {
			v.Out.Num("damaged", t.damaged)
		}
		v.Out.End()
	}
	return nil
}

// processOf returns the process in the name of a map, perf-PID.map.
func processOf(path string) (pid uint32, ok bool) {
	name, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(name, "perf-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), isMap && isPerf && err == nil
}

// functions shows the functions, around damaged lines.
func functions(v *show.Viewer, r *perfmap.Reader) (t total) {
	flushed := int64(0)
	for !v.Lost() {
		l, err := r.Next()
		var damage *wire.Error
		switch {
		case err == nil:
			t.functions++
			t.bytes += l.Size
			if l.Size == 0 {
				t.empty++
			}
			function(v, &l, r)
		case errors.As(err, &damage):
			t.damaged++
			v.Problem(damage.Offset, fmt.Errorf("%w; the line is left out", err))
		case err == io.EOF:
			return t
		default:
			v.Problem(l.Offset, fmt.Errorf("%w; the rest of the file is left out", err))
			return t
		}
		if r.Offset()-flushed > show.FlushEvery {
			v.Out.Flush()
			flushed = r.Offset()
		}
	}
	return t
}

// function shows a function, if the filter lets it through.
func function(v *show.Viewer, l *perfmap.Line, r *perfmap.Reader) {
	f := &v.Opts.Filter
	if !f.MatchesType("function") || f.Time.Set || !f.Address.Meets(l.Start, l.Size) || !f.MatchesName(l.Name) {
		return
	}
	v.Out.Begin(show.Item{Offset: l.Offset, Type: "function", Size: r.Offset() - l.Offset})
	v.Out.Hex("addr", l.Start)
	v.Out.Num("bytes", l.Size)
	v.Out.Str("name", l.Name)
	if v.Opts.Hex {
		v.Out.Data("hex", line(v, l, r), l.Offset)
	}
	v.Out.End()
	if r.Cut() == l.Offset {
		v.Problem(l.Offset, errors.New("the file ends inside this line: the process was killed or is still writing; the name may be longer"))
	}
}

// line returns the bytes of a line of a file, or nothing of a pipe.
func line(v *show.Viewer, l *perfmap.Line, r *perfmap.Reader) []byte {
	if v.File == nil {
		return nil
	}
	b := make([]byte, r.Offset()-l.Offset)
	n, _ := v.File.ReadAt(b, l.Offset) // a part that is gone since the first read is not shown
	return b[:n]
}
