package gate

// floors are how many stacks with jitted frames reach the bottom in every layout, by
// recording and perf, as measured; of how many, and with perf inject, is behind. What
// stacks lack of the bottom there is beyond the ends of their copies: see the page about
// unwinding.
var floors = map[string]map[string]int{
	"node22-dwarf":   {"6.1": 210, "6.12": 213, "7.2": 213}, // of 239; perf inject 210, 213, 0
	"node25-dwarf":   {"6.1": 13, "6.12": 20, "7.2": 21},    // of 302; perf inject 13, 20, 0
	"node25-workers": {"6.1": 50, "6.12": 50, "7.2": 50},    // of 119; perf inject 50, 50, 0
	"php84-dwarf":    {"6.1": 107, "6.12": 107, "7.2": 107}, // of 107; perf inject 0, 0, 67 or, with dumps directly in /tmp, 107
}
