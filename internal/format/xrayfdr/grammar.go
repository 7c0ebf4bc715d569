package xrayfdr

// The document's grammar of a block is a state machine. What a record may
// follow depends on the record in front of it alone:
//
//	ThreadBuffer  := [Extents] NewBuffer WallTime [PID] NewCPU BodySequence* End
//	BodySequence  := NewCPU | TSCWrap | Function | Event
//	Function      := (EnterArgs CallArgument*) | Enter | Exit | TailExit
//	Event         := (CustomEvent | TypedEvent) payload
//	End           := EndOfBuffer rest
//
// Extents stands there from version 2 on, and EndOfBuffer no longer; PID from
// version 3 on. Three of the transitions are not in the document but in files
// of real runtimes; each is a Repair.

type state uint8

const (
	atStart       state = iota // of the block
	afterExtents               // version 2 and later
	afterNew                   // after NewBuffer
	afterWallTime              // after WallTimeMarker
	afterPID                   // after PidEntry
	inBody
	afterEnter     // after a plain Enter, or its arguments
	afterEnterArgs // after EnterArgs, or its arguments
	atEnd          // after EndOfBuffer: nothing may follow
	numStates
	rejected state = 0xff
)

// body holds the transitions of every state in which a body may go on.
var body = map[Kind]state{
	Enter: afterEnter, Exit: inBody, TailExit: inBody, EnterArgs: afterEnterArgs,
	NewCPU: inBody, TSCWrap: inBody, CustomEvent: inBody, TypedEvent: inBody, EndOfBuffer: atEnd,
}

// transitions holds the state after a record of a kind, or rejected.
var transitions = func() (t [numStates][numKinds]state) {
	for s := range t {
		for k := range t[s] {
			t[s][k] = rejected
		}
	}
	t[atStart][Extents] = afterExtents
	t[atStart][NewBuffer] = afterNew
	t[afterExtents][NewBuffer] = afterNew
	t[afterNew][WallTime] = afterWallTime
	t[afterWallTime][PID] = afterPID
	for _, s := range []state{afterWallTime, afterPID, inBody, afterEnter, afterEnterArgs} {
		for k, to := range body {
			t[s][k] = to
		}
	}
	t[afterEnter][CallArgument] = afterEnter
	t[afterEnterArgs][CallArgument] = afterEnterArgs
	return t
}()

// versions holds the first and last version in which a record occurs.
var versions = [numKinds]struct{ first, last uint16 }{
	Enter: {1, MaxVersion}, Exit: {1, MaxVersion}, TailExit: {1, MaxVersion}, EnterArgs: {1, MaxVersion},
	NewBuffer: {1, MaxVersion}, EndOfBuffer: {1, 1}, NewCPU: {1, MaxVersion}, TSCWrap: {1, MaxVersion},
	WallTime: {1, MaxVersion}, CustomEvent: {1, MaxVersion}, CallArgument: {1, MaxVersion},
	Extents: {2, MaxVersion}, TypedEvent: {3, MaxVersion}, PID: {3, MaxVersion},
}

// expected says what the grammar allows in a state, for errors.
var expected = [numStates]string{
	"a block begins with BufferExtents or NewBuffer", "NewBuffer has to follow BufferExtents",
	"WallTimeMarker has to follow NewBuffer", "NewCPUId or PidEntry has to follow WallTimeMarker", "NewCPUId has to follow PidEntry",
	"only records of a body may follow", "only arguments and records of a body may follow",
	"only arguments and records of a body may follow", "nothing may follow EndOfBuffer",
}
