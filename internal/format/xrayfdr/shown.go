package xrayfdr

// Shown has the fields of records, by their kind, for programs that print them: each with its key, the
// field of Record, and how its value is written, as [show.Fields] has it. The TID of functions and
// events is that of their block.
var Shown = [PID + 1][]string{
	Enter:        function,
	Exit:         function,
	TailExit:     function,
	EnterArgs:    function,
	NewBuffer:    {"tid=TID"},
	PID:          {"pid=PID"},
	Extents:      {"buffer_size=Extents"},
	WallTime:     {"seconds=Seconds", "microseconds=Microseconds"},
	CallArgument: {"argument=Argument"},
	NewCPU:       {"cpu=CPU", "tsc=TSC"},
	TSCWrap:      {"tsc=TSC"},
	CustomEvent:  {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta,since:5", "payload_size=PayloadSize"},
	TypedEvent:   {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta,since:5", "event_type=Type", "payload_size=PayloadSize"},
}

var function = []string{"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta", "function=Function,known"}
