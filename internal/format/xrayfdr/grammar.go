package xrayfdr

// The grammar of a block is a state machine. What a record may follow depends on the record in
// front of it alone:
//
//	ThreadBuffer  := Extents NewBuffer WallTime PID [NewCPU BodySequence*]
//	BodySequence  := NewCPU | TSCWrap | Function | Event
//	Function      := (EnterArgs CallArgument*) | Enter | Exit | TailExit
//	Event         := (CustomEvent | TypedEvent) payload

type state uint8

const (
	atStart state = iota // of the block
	afterExtents
	afterNew      // after NewBuffer
	afterWallTime // after WallTimeMarker
	afterPID      // after PidEntry
	inBody
	afterEnterArgs // after EnterArgs, or its arguments
	atEnd          // nothing may follow
	numStates
	rejected state = 0xff
)

// body holds the transitions of every state in which a body may go on.
var body = map[Kind]state{
	Enter: inBody, Exit: inBody, TailExit: inBody, EnterArgs: afterEnterArgs,
	NewCPU: inBody, TSCWrap: inBody, CustomEvent: inBody, TypedEvent: inBody,
}

// transitions holds the state after a record of a kind, or rejected.
var transitions = func() (t [numStates][numKinds]state) {
	for s := range t {
		for k := range t[s] {
			t[s][k] = rejected
		}
	}
	t[atStart][Extents] = afterExtents
	t[afterExtents][NewBuffer] = afterNew
	t[afterNew][WallTime] = afterWallTime
	t[afterWallTime][PID] = afterPID
	t[afterPID][NewCPU] = inBody
	for k, to := range body {
		t[inBody][k], t[afterEnterArgs][k] = to, to
	}
	t[afterEnterArgs][CallArgument] = afterEnterArgs
	return t
}()

// expected says what the grammar allows in a state, for errors.
var expected = [numStates]string{
	"a block begins with BufferExtents", "NewBuffer has to follow BufferExtents", "WallTimeMarker has to follow NewBuffer",
	"PidEntry has to follow WallTimeMarker", "NewCPUId has to follow PidEntry",
	"only records of a body may follow", "only arguments and records of a body may follow",
}
