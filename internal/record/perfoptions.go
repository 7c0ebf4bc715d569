package record

// PerfOptions returns the options for perf record: those that were typed, after those that are missing.
// A clock and a kind of stacks are missing if none is named. quiet keeps perf from reporting the
// recording, which the caller does.
func PerfOptions(typed []Option, command []string, quiet bool) (words []string) {
	if quiet {
		words = append(words, "-q")
	}
	if Find(typed, "k", "clockid") == nil {
		words = append(words, "-k", "mono") // the clock of dumps
	}
	if Find(typed, "g", "call-graph", "no-call-graph") == nil {
		words = append(words, stackOptions(typed, command)...)
	}
	for _, option := range typed {
		words = append(words, option.Words...)
	}
	return words
}

// stackOptions returns the options for stacks of a command. Copies of stacks come with a frequency,
// unless one is named.
func stackOptions(typed []Option, command []string) []string {
	stacks := ""
	if len(command) > 0 {
		stacks = commandStacks(command)
	}
	if stacks == "" {
		return []string{"-g"}
	}
	words := []string{"--call-graph", stacks}
	if Find(typed, "F", "freq", "c", "count") == nil {
		words = append(words, "-F", frequency(stacks))
	}
	return words
}
