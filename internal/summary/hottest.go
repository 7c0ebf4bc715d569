package summary

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// maxName is how many characters of a function's name are in the table. Names of generic functions may
// have hundreds.
const maxName = 60

// minShare is the smallest share that is worth a line.
const minShare = 0.005

// hot returns the functions that are worth a line. They are sorted.
func hot(functions []report.HotFunction) []report.HotFunction {
	n := slices.IndexFunc(functions, func(f report.HotFunction) bool { return f.Share < minShare })
	if n < 0 {
		return functions
	}
	return functions[:n]
}

// writeHottest writes a table of the hottest functions, or else of those that most callchains pass
// through.
func writeHottest(w io.Writer, s *report.Summary) {
	if s.Hottest == nil {
		return
	}
	title, functions := "hottest functions", hot(s.Hottest.Functions)
	if len(functions) == 0 {
		title, functions = "functions that most samples pass through", hot(s.Hottest.Callers)
	}
	if len(functions) == 0 {
		return
	}
	what := "share of samples"
	if s.Hottest.Event != "" {
		what += " of " + quote.Printable(s.Hottest.Event)
	}
	fmt.Fprintf(w, "%s (%s)\n", title, what)
	several := slices.ContainsFunc(functions, func(f report.HotFunction) bool { return f.PID != functions[0].PID })
	rows := make([][]string, 0, len(functions))
	for i := range functions {
		f := &functions[i]
		row := []string{percent(f.Share), nameText(f.Name)}
		if several {
			row = append(row, fmt.Sprintf("%d %s", f.PID, quote.Printable(f.Command)))
		}
		rows = append(rows, append(row, f.Tier, placeText(f.File, f.Line), hotLineText(f)))
	}
	writeColumns(w, rows)
}

// writeColumns writes rows with straight columns. The first is aligned to the right, and those without
// content are left out.
func writeColumns(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line, spaces := "", 2
		for i, cell := range row {
			if width[i] == 0 {
				continue
			}
			if pad := width[i] - utf8.RuneCountInString(cell); i == 0 {
				line = fmt.Sprintf("%*s%s", 2+pad, "", cell)
			} else if cell != "" {
				line += fmt.Sprintf("%*s%s", spaces, "", cell)
				spaces = 2 + pad
			} else {
				spaces += 2 + width[i]
			}
		}
		fmt.Fprintln(w, line)
	}
}

// percent is a share as perf rounds it, to a tenth.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// nameText is a name that does not fill the table.
func nameText(name string) string {
	runes := []rune(quote.Printable(name))
	if len(runes) <= maxName {
		return string(runes)
	}
	return string(runes[:maxName-3]) + "..."
}

// placeText is a file without its directory, and a line, as far as they are known.
func placeText(file string, line int) string {
	switch {
	case file == "" && line == 0:
		return ""
	case file == "":
		return fmt.Sprintf("line %d", line)
	}
	file = quote.Printable(filepath.Base(file))
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// hotLineText says which line has the most samples of a function. It names the file if that is not the
// function's own.
func hotLineText(f *report.HotFunction) string {
	if f.HotLine == 0 {
		return ""
	}
	line := fmt.Sprintf("line %d", f.HotLine)
	if f.HotFile != f.File {
		line = placeText(f.HotFile, f.HotLine)
	}
	verb := "mostly"
	if f.HotShare < 0.5 {
		verb = "most in"
	}
	return fmt.Sprintf("%s %s (%s)", verb, line, wholePercent(f.HotShare))
}

func wholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// defaultResult is the file that the commands below read if none is named.
const defaultResult = "perf.jit.data"

// nextCommands show more of a result. The option before its path, if any, is named with the path.
var nextCommands = []struct{ command, option string }{
	{"jitinject report", " -i"},
	{"jitinject view", ""},
}

// writeNext names the commands that show more, unless there is nothing in functions to show.
func writeNext(w io.Writer, s *report.Summary) {
	if s.Output == "-" || s.Hottest == nil || len(s.Hottest.Functions)+len(s.Hottest.Callers) == 0 {
		return
	}
	label := "next:"
	for _, next := range nextCommands {
		line := next.command
		if s.Output != defaultResult {
			line += next.option + " " + quote.ShellWord(s.Output)
		}
		fmt.Fprintf(w, "%-5s %s\n", label, line)
		label = ""
	}
}
