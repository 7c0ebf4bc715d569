package checkmap

import "github.com/jitinject/jitinject/internal/verify"

// rules are the rules for perf maps.
var rules = []verify.Rule{
	// Lines.
	{Name: "perfmap/fields", Severity: verify.Error,
		Statement: "A line has START, SIZE and NAME, with a space between them.",
		Cause:     "The runtime wrote a name with a newline, or two threads wrote at once. perf skips such lines, or uses something else as the name.",
		Advice:    "Write each line by one call of write(2), and replace newlines in names."},
	{Name: "perfmap/number", Severity: verify.Error,
		Statement: "START and SIZE are hexadecimal numbers of at most 64 bits.",
		Cause:     "They are decimal or negative, or the line begins inside another one.",
		Advice:    "Write them with %llx."},
	{Name: "perfmap/address", Severity: verify.Error,
		Statement: "Code is where a process can have code: at 0x10000 or above, below 0x8000000000000000, and no function has more than 16 MiB.",
		Cause:     "The fields are in another order, or the address is relative to something.",
		Advice:    "Write the address in the process, and the size in bytes."},
	{Name: "perfmap/size-zero", Severity: verify.Warning,
		Statement: "A function has a size.",
		Cause:     "The runtime does not know it. perf gives the name to samples at the first byte only.",
		Advice:    "Write the size of the code in bytes."},
	{Name: "perfmap/short-name", Severity: verify.Note, Repaired: true,
		Statement: "A name has at least 3 bytes.",
		Cause:     "perf skips lines with shorter ones. jitinject does not.",
		Advice:    "Write longer names, if perf is to read the map by itself."},
	{Name: "perfmap/name-text", Severity: verify.Warning, Repaired: true,
		Statement: "Names are text: UTF-8 without control characters.",
		Cause:     "The name was freed before it was written, or the file has lines of Windows. perf ends a name at a zero byte.",
		Advice:    "Nothing, if the program's own names are like that: they are escaped when they are printed."},
	{Name: "perfmap/line-length", Severity: verify.Error,
		Statement: "A line has at most 65,536 bytes.",
		Cause:     "A name has the whole source of a function, or a newline is missing.",
		Advice:    "Write shorter names."},
	{Name: "perfmap/cut", Severity: verify.Note, ForUsers: true, Counted: true,
		Statement: "The last line ends with a newline.",
		Cause:     "The process was killed or is still writing. perf leaves out the last byte of the name.",
		Advice:    "Let the program end by itself."},
	{Name: "perfmap/no-functions", Severity: verify.Warning, ForUsers: true,
		Statement: "A map has functions.",
		Cause:     "The runtime writes them later, or when it ends; or all lines are damaged.",
		Advice:    "Let the program end by itself, or copy the map later."},

	// Addresses.
	{Name: "perfmap/overlap", Severity: verify.Warning, ForUsers: true, Counted: true,
		Statement: "No code is over earlier code.",
		Cause:     "The memory was used again, or a size is too large. A map has no times. jitinject uses the later line for the whole recording. perf uses either line, depending on the order of all lines.",
		Advice:    "Use a jitdump if the runtime can write one: it has times."},
	{Name: "perfmap/twice", Severity: verify.Note, Repaired: true,
		Statement: "A line occurs once.",
		Cause:     "The runtime lists all code again at times.",
		Advice:    "Nothing: one of them counts."},

	// A map beside its recording.
	{Name: "perfmap/not-mapped", Severity: verify.Error, ForUsers: true,
		Statement: "In a recording that was injected, code of the map that samples are in is mapped.",
		Cause:     "It was injected without the map, or with --sampled by another one; or a mapping is missing. perf shows bare addresses.",
		Advice:    "Inject again with the map; if it comes again, report it to the author of the program that injected."},
}
