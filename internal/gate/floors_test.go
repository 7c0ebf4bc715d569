package gate

// floors are how many stacks with jitted frames reach the bottom in every layout, by
// recording and perf, as measured. perf inject has fewer in most.
var floors = map[string]map[string]int{}
