package showv8

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// A logViewer walks a log of V8.
type logViewer struct {
	*show.Viewer
	reader *v8log.Reader
	at     int64 // end of the line that was shown last
	known  known
	latest created // code
	lists  lists
	total  total
}

// A created is the latest code-creation.
type created struct {
	addr, size, sfi uint64
	name            string // as in the file; "" of no function
}

// A total counts the records of the log.
type total struct{ codes, baseline, maglev, turbofan, inlining, scripts, units, moves, others, damaged uint64 }

// Format is the format of V8's logs.
var Format = show.Format{
	Name:   "a V8 log",
	Begins: func(head []byte) bool { return string(head) == "v8-versi" },
	Show:   showLog,
	Types:  append([]string{"v8-version", "code-creation", "code-source-info", "script-source", "sfi-move", "code-move", "code-delete", "total"}, otherKinds...),
}

// otherKinds are the kinds of lines that are not about code [src/logging/log.cc, code-events.h,
// log-file.cc].
var otherKinds = []string{
	"v8-platform", "new", "delete", "heap-capacity", "heap-available", "profiler", "tick", "shared-library", "shared-library-end",
	"current-time", "code-deopt", "code-disable-optimization", "code-disassemble", "code-moving-gc", "code-dependency-change",
	"feedback-vector", "snapshot-code-name", "timer-event", "timer-event-start", "timer-event-end", "active-runtime-timer",
	"heap-sample-begin", "heap-sample-end", "heap-sample-item", "heap-sample-stats", "script", "script-details", "function",
	"first-execution", "compilation-cache", "map", "map-create", "map-details", "api", "uncaught_exception",
	"LoadIC", "StoreIC", "KeyedLoadIC", "KeyedStoreIC", "LoadGlobalIC", "StoreGlobalIC", "StoreInArrayLiteralIC",
}

// showLog shows a log.
func showLog(v *show.Viewer) error {
	if err := v.NoCode(v8log.FormatName); err != nil {
		return err
	}
	if err := v.NeedsFile(v8log.FormatName); err != nil {
		return err
	}
	r, err := v8log.NewReader(v.File)
	if err != nil {
		return err
	}
	l := &logViewer{Viewer: v, reader: r}
	l.known.begin()
	v.Begun(v8log.FormatName)
	pid, ok := v8log.ProcessOf(filepath.Base(v.Path))
	if ok {
		v.Out.Num("pid", uint64(pid))
	}
	v.Out.End()
	if len(v.Opts.Filter.PIDs) > 0 && (!ok || !v.Opts.Filter.MatchesPID(pid)) {
		return nil
	}
	l.records()
	if f := &v.Opts.Filter; f.MatchesType("total") && !f.IsPicky() {
		l.showTotal()
	}
	return nil
}

// records walks all lines, around damaged ones.
func (l *logViewer) records() {
	flushed := int64(0)
	for !l.Lost() {
		rec, err := l.reader.Next()
		end := l.reader.Offset()
		var damage *v8log.Error
		switch {
		case err == nil:
			l.others(offsetOf(rec))
			l.record(rec, end)
		case errors.As(err, &damage):
			l.damaged(damage, end)
		case err == io.EOF && l.reader.Cut >= 0:
			l.others(l.reader.Cut)
			l.Problem(l.reader.Cut, errors.New("the file ends inside this line: the process was killed, or is still running"))
			return
		case err == io.EOF:
			l.others(end)
			return
		default:
			l.Problem(end, fmt.Errorf("%w; the rest of the file is left out", err))
			return
		}
		l.at = end
		if end-flushed > show.FlushEvery {
			l.Out.Flush()
			flushed = end
		}
	}
}

// damaged shows a damaged line, which ends at an offset.
func (l *logViewer) damaged(damage *v8log.Error, end int64) {
	l.others(l.lineAt(damage.Offset))
	l.total.damaged++
	l.Problem(damage.Offset, fmt.Errorf("%w; the line is left out", damage))
	l.latest = created{}
	l.at = end
}

// offsetOf returns the offset of a record's line.
func offsetOf(rec v8log.Record) int64 {
	switch rec := rec.(type) {
	case *v8log.Version:
		return rec.Offset
	case *v8log.CodeCreation:
		return rec.Offset
	case *v8log.SourceInfo:
		return rec.Offset
	case *v8log.ScriptSource:
		return rec.Offset
	case *v8log.Move:
		return rec.Offset
	}
	return 0
}

// item shows an item, with the line's bytes if these are asked for.
func (l *logViewer) item(offset, end int64, kind string, time uint64, timed bool, fields func(o show.Form)) {
	l.Out.Begin(show.Item{Offset: offset, Type: kind, Size: end - offset, Time: time, Timed: timed})
	fields(l.Out)
	if l.Opts.Hex {
		b := make([]byte, min(end-offset, maxBytes))
		n, _ := l.File.ReadAt(b, offset)
		l.Out.Data("hex", b[:n], offset)
	}
	l.Out.End()
}

// maxBytes bounds the bytes of a line that are shown.
const maxBytes = 16 << 20

// record adds a record to known, and shows it if the filter lets it through.
func (l *logViewer) record(rec v8log.Record, end int64) {
	switch rec := rec.(type) {
	case *v8log.Version:
		if rec.Offset > 0 {
			l.known.begin()
		}
		if l.isPlain("v8-version") {
			l.item(rec.Offset, end, "v8-version", 0, false, func(o show.Form) { o.Word("version", rec.Text) })
		}
	case *v8log.CodeCreation:
		l.creation(rec, end)
	case *v8log.SourceInfo:
		l.source(rec, end)
	case *v8log.ScriptSource:
		l.script(rec, end)
	case *v8log.Move:
		l.move(rec, end)
	}
}

// isPlain reports whether a line of a kind is shown that has no time, name or address.
func (l *logViewer) isPlain(kind string) bool {
	f := &l.Opts.Filter
	return f.MatchesType(kind) && len(f.Names) == 0 && !f.Address.Set && !f.Time.Set
}

// isWanted reports whether the filter lets a line without a time through, by its type and the
// addresses of length 1 that it is about.
func (l *logViewer) isWanted(kind string, names []string, addrs ...uint64) bool {
	f := &l.Opts.Filter
	if !f.MatchesType(kind) || f.Time.Set {
		return false
	}
	if f.Address.Set {
		found := false
		for _, a := range addrs {
			found = found || f.Address.Meets(a, 1)
		}
		if !found {
			return false
		}
	}
	if len(f.Names) == 0 {
		return true
	}
	for _, n := range names {
		if n != "" && f.MatchesName([]byte(n)) {
			return true
		}
	}
	return false
}

// script shows a script-source.
func (l *logViewer) script(s *v8log.ScriptSource, end int64) {
	url := string(v8log.AppendText(nil, s.URL))
	l.known.addScript(s, url)
	l.total.scripts++
	l.total.units += uint64(s.Lines.Units)
	if !l.isWanted("script-source", []string{url}) {
		return
	}
	l.item(s.Offset, end, "script-source", 0, false, func(o show.Form) {
		o.Signed("script", int64(s.Script))
		o.Num("units", uint64(s.Lines.Units))
		o.Num("lines", uint64(s.Lines.Count()))
		o.Str("url", []byte(url))
	})
}

// moveKinds are the kinds of lines about moves.
var moveKinds = map[v8log.MoveKind]string{v8log.FunctionMoved: "sfi-move", v8log.CodeMoved: "code-move", v8log.CodeDeleted: "code-delete"}

// move shows a move, or the end of code.
func (l *logViewer) move(m *v8log.Move, end int64) {
	l.total.moves++
	kind := moveKinds[m.Kind]
	var n name
	if m.Kind == v8log.FunctionMoved {
		if f, ok := l.known.functions[m.From]; ok {
			delete(l.known.functions, m.From)
			l.known.functions[m.To] = f
			n = l.nameOf(f)
		}
	}
	addrs := []uint64{m.From, m.To}
	if m.Kind == v8log.CodeDeleted {
		addrs = addrs[:1]
	}
	if !l.isWanted(kind, []string{n.text()}, addrs...) {
		return
	}
	l.item(m.Offset, end, kind, 0, false, func(o show.Form) {
		o.Hex("from", m.From)
		if m.Kind != v8log.CodeDeleted {
			o.Hex("to", m.To)
		}
		n.show(o)
	})
}

// showTotal shows what there was altogether.
func (l *logViewer) showTotal() {
	o, t := l.Out, &l.total
	o.Begin(show.Item{Offset: -1, Type: "total", Size: -1})
	o.Num("codes", t.codes)
	o.Num("baseline", t.baseline)
	o.Num("maglev", t.maglev)
	o.Num("turbofan", t.turbofan)
	o.Num("with_inlined_calls", t.inlining)
	o.Num("scripts", t.scripts)
	o.Num("units", t.units)
	o.Num("moves", t.moves)
	o.Num("other_lines", t.others)
	if t.damaged > 0 {
		o.Num("damaged", t.damaged)
	}
	if l.known.left > 0 {
		o.Num("not_kept", l.known.left)
	}
	o.End()
}
