package completion

import (
	_ "embed"
	"slices"
	"strings"
)

// perfOptions are options of perf record, report, annotate, script and diff: in each line, separated by tabs, the
// commands, the spellings with the value, and what it means. perf says which ones it has (--list-opts), but not
// what they mean. So these are the common ones, which all perfs since 6.1 have. Those of record are all that have
// the next word as their value, too, because the recorded command begins after that.
//
//go:embed perfoptions.txt
var perfOptions string

// PerfOptions returns the options of a command of perf for its completion.
func PerfOptions(command string) (all []Option) {
	for line := range strings.Lines(perfOptions) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if !slices.Contains(strings.Fields(fields[0]), command) {
			continue
		}
		o := Option{Text: fields[2]}
		for _, word := range strings.Fields(fields[1]) {
			switch {
			case strings.HasPrefix(word, "--"):
				o.Long = word[2:]
			case word[0] == '-':
				o.Short = word[1:]
			case word == "FILE":
				o.Value = Value{File, []string{"*"}}
			case strings.Contains(word, "|"):
				o.Value = Value{Word, strings.Split(word, "|")}
			default:
				o.Value.Kind = Text
			}
		}
		all = append(all, o)
	}
	return all
}
