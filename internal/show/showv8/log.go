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
	latest v8log.CodeCreation // without its name
	moved  function
	shown  description
}

// Format is the format of V8's logs.
var Format = show.Format{
	Name:   "a V8 log",
	Begins: func(head []byte) bool { return string(head) == "v8-versi" },
	Show:   showLog,
	Types:  append([]string{"v8-version", "code-creation", "code-source-info", "script-source", "sfi-move", "code-move", "code-delete"}, otherKinds...),
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

func showLog(v *show.Viewer) error {
	if err := v.NoCode(v8log.FormatName); err != nil {
		return err
	}
	r, err := v8log.NewReader(v.File)
	if err != nil {
		return err
	}
	l := &logViewer{Viewer: v, reader: r, known: newKnown()}
	v.Add = l.add
	v.Begun(v8log.FormatName)
	pid, ok := v8log.ProcessOf(filepath.Base(v.Path))
	if ok {
		v.Out.Num("pid", uint64(pid))
	}
	v.Out.End()
	if len(v.Opts.Filter.PIDs) > 0 && !(ok && v.OfProcess(pid)) {
		return nil
	}
	l.records()
	return nil
}

// records walks all lines, around damaged ones.
func (l *logViewer) records() {
	for !l.Lost() {
		rec, err := l.reader.Next()
		end := l.reader.Offset()
		var damage *v8log.Error
		switch {
		case err == nil:
			l.others(l.reader.Line())
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
	}
}

// damaged shows a damaged line, which ends at an offset.
func (l *logViewer) damaged(damage *v8log.Error, end int64) {
	l.others(l.reader.Line())
	l.Problem(damage.Offset, fmt.Errorf("%w; the line is left out", damage))
	l.latest = v8log.CodeCreation{}
	l.at = end
}

// item shows a line without a time, if the filter lets it through. It reports whether that is so.
func (l *logViewer) item(offset, end int64, kind string, rec any) bool {
	return l.Record(show.Item{Offset: offset, Type: kind, Size: end - offset}, rec, nil)
}

// record adds a record to known, and shows it if the filter lets it through.
func (l *logViewer) record(rec v8log.Record, end int64) {
	switch rec := rec.(type) {
	case *v8log.Version:
		if rec.Offset > 0 {
			l.known = newKnown()
		}
		l.item(rec.Offset, end, "v8-version", rec)
	case *v8log.CodeCreation:
		l.latest = *rec
		l.latest.Name = nil
		if rec.IsFunction {
			l.known.addFunction(rec.SFI, rec.Name)
		}
		l.Record(show.Item{Offset: rec.Offset, Type: "code-creation", Size: end - rec.Offset, Time: rec.Time * 1000, Timed: true}, rec, nil)
	case *v8log.SourceInfo:
		l.describe(rec)
		if err := &l.shown.err; l.item(rec.Offset, end, "code-source-info", rec) && *err != nil {
			l.Problem(show.OffsetOf(*err, rec.Offset), fmt.Errorf("%w; the rest of the list is left out", *err))
		}
	case *v8log.ScriptSource:
		l.known.addScript(rec)
		l.item(rec.Offset, end, "script-source", rec)
	case *v8log.Move:
		l.moved = function{}
		if f, ok := l.known.functions[rec.From]; ok && rec.Kind == v8log.FunctionMoved {
			delete(l.known.functions, rec.From)
			l.known.functions[rec.To] = f
			l.moved = f
		}
		l.item(rec.Offset, end, moveKinds[rec.Kind], rec)
	}
}

// moveKinds are the kinds of lines about moves.
var moveKinds = map[v8log.MoveKind]string{v8log.FunctionMoved: "sfi-move", v8log.CodeMoved: "code-move", v8log.CodeDeleted: "code-delete"}

// add writes what is no field of a record.
func (l *logViewer) add(o *show.Form, rec any) {
	switch rec := rec.(type) {
	case *v8log.CodeCreation:
		show.MentionName(o, v8log.AppendText(nil, rec.Name))
		if tier := tierName(rec.Tier); tier != "" && rec.IsFunction {
			o.Word("compiler", tier)
		}
	case *v8log.SourceInfo:
		l.source(o, rec)
	case *v8log.ScriptSource:
		url := v8log.AppendText(nil, rec.URL)
		show.MentionName(o, url)
		o.Num("units", uint64(rec.Lines.Units))
		o.Num("lines", uint64(rec.Lines.Count()))
		o.Str("url", url)
	case *v8log.Move:
		l.moved.showName(o)
	}
}
