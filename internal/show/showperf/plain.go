package showperf

import (
	"bytes"

	"github.com/jitinject/jitinject/perfdata"
)

// Records with all fields at fixed places. A plainField is one of those: its name
// and kind.
type plainField struct {
	name string
	kind fieldKind
}

type fieldKind int

const (
	decimal32 fieldKind = iota
	signed32
	decimal64
	hex64
	hex16
	decimal16
	text // up to a NUL, or the end of the record
	rest // bytes that are shown with --hex only: how many there are
)

// plainRecords are from linux/perf_event.h and perf's event.h.
var plainRecords = map[perfdata.RecordType][]plainField{
	perfdata.RecordLost:          {{"lost_id", hex64}, {"lost", decimal64}},
	perfdata.RecordThrottle:      {{"at", decimal64}, {"event_id", hex64}, {"event_stream_id", hex64}},
	perfdata.RecordUnthrottle:    {{"at", decimal64}, {"event_id", hex64}, {"event_stream_id", hex64}},
	perfdata.RecordRead:          {{"pid", signed32}, {"tid", signed32}, {"values", rest}},
	perfdata.RecordAux:           {{"aux_offset", hex64}, {"aux_size", hex64}, {"flags", hex64}},
	perfdata.RecordItraceStart:   {{"pid", signed32}, {"tid", signed32}},
	perfdata.RecordLostSamples:   {{"lost", decimal64}},
	perfdata.RecordSwitch:        {},
	perfdata.RecordSwitchCPUWide: {{"next_prev_pid", signed32}, {"next_prev_tid", signed32}},
	perfdata.RecordKsymbol:       {{"addr", hex64}, {"len", decimal32}, {"ksym_type", decimal16}, {"flags", hex16}, {"name", text}},
	perfdata.RecordBPFEvent:      {{"bpf_type", decimal16}, {"flags", hex16}, {"bpf_id", decimal32}, {"tag", hex64}},
	perfdata.RecordCgroup:        {{"cgroup", hex64}, {"path", text}},
	perfdata.RecordTextPoke:      {{"addr", hex64}, {"old_len", decimal16}, {"new_len", decimal16}, {"code", rest}},
	perfdata.RecordAuxOutputHWID: {{"hw_id", hex64}},

	perfdata.RecordEventType:     {{"event_id", hex64}, {"name", text}},
	perfdata.RecordTracingData:   {{"payload", decimal32}},
	perfdata.RecordFinishedRound: {},
	perfdata.RecordIDIndex:       {{"nr", decimal64}, {"entries", rest}},
	perfdata.RecordAuxtraceInfo:  {{"auxtrace_type", decimal32}, {"reserved", decimal32}, {"priv", rest}},
	perfdata.RecordAuxtrace:      {{"payload", decimal64}, {"aux_offset", hex64}, {"reference", hex64}, {"idx", decimal32}, {"aux_tid", signed32}, {"aux_cpu", signed32}},
	perfdata.RecordAuxtraceError: {{"auxtrace_type", decimal32}, {"code", decimal32}, {"cpu", signed32}, {"pid", signed32}, {"tid", signed32}, {"fmt", decimal32}, {"ip", hex64}, {"at", decimal64}, {"text", text}},
	perfdata.RecordThreadMap:     {{"nr", decimal64}, {"entries", rest}},
	perfdata.RecordCPUMap:        {{"map_type", decimal16}, {"map", rest}},
	perfdata.RecordStatConfig:    {{"nr", decimal64}, {"entries", rest}},
	perfdata.RecordStat:          {{"id", hex64}, {"cpu", signed32}, {"thread", decimal32}, {"value", decimal64}, {"enabled", decimal64}, {"running", decimal64}},
	perfdata.RecordStatRound:     {{"round_type", decimal64}, {"at", decimal64}},
	perfdata.RecordEventUpdate:   {{"update_type", decimal64}, {"event_id", hex64}, {"data", rest}},
	perfdata.RecordFinishedInit:  {},
}

// plain shows a record by its entry in the table, or as unknown. Fields
// that older perfs do not write are left out.
func (p *record) plain() error {
	o := p.Out
	fields, known := plainRecords[p.Type]
	c := p.body()
	if !known {
		o.Num("not_decoded", uint64(c.Len()))
		return nil
	}
	for _, f := range fields {
		if c.Len() == 0 && f.kind != rest {
			break
		}
		switch f.kind {
		case decimal64:
			o.Num(f.name, c.U64(f.name))
		case hex64:
			o.Hex(f.name, c.U64(f.name))
		case decimal32:
			o.Num(f.name, uint64(c.U32(f.name)))
		case signed32:
			o.Signed(f.name, int64(int32(c.U32(f.name))))
		case decimal16:
			o.Num(f.name, uint64(c.U16(f.name)))
		case hex16:
			o.Hex(f.name, uint64(c.U16(f.name)))
		case text:
			s := c.Rest()
			if n := bytes.IndexByte(s, 0); n >= 0 {
				s = s[:n]
			}
			o.Str(f.name, s)
		case rest:
			o.Num(f.name+"_bytes", uint64(c.Len()))
		}
	}
	return c.Err()
}
