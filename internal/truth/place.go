package truth

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// A Place is the source line of an address, as a tool prints it.
type Place struct {
	Function string
	File     string // base name; "" if the tool knows no line
	Line     int    // from 1; 0 if the tool knows no line
}

// A Tool finds the places of addresses of an object.
type Tool struct {
	Name string   // as users call it
	Args []string // the command before the object's path
}

// Tools has the three vendors' programs. All of them print an address, then a line for the
// function and one for the place, the innermost inlined call first.
var Tools = []Tool{
	{"addr2line", []string{"addr2line", "-a", "-f", "-i", "-e"}},
	{"llvm-symbolizer", []string{"llvm-symbolizer", "--output-style=GNU", "-a", "-f", "-i", "--no-demangle", "-e"}},
	{"eu-addr2line", []string{"eu-addr2line", "-a", "-f", "-i", "-e"}},
}

var (
	addressLine = regexp.MustCompile(`^0x[0-9a-f]+$`)
	placeLine   = regexp.MustCompile(`^(.*?):(\d+|\?)(?::\d+)?(?: \(discriminator \d+\))?$`)
)

// Places returns the places of each address in an object, the innermost inlined call first.
func (t *Tool) Places(ctx context.Context, object string, addresses []uint64) ([][]Place, error) {
	const most = 500 // addresses of one command
	var all [][]Place
	for len(addresses) > 0 {
		n := min(len(addresses), most)
		args := append(append([]string{}, t.Args[1:]...), object)
		for _, a := range addresses[:n] {
			args = append(args, fmt.Sprintf("%#x", a))
		}
		cmd := exec.CommandContext(ctx, t.Args[0], args...)
		cmd.Env = append(cmd.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
		out, err := cmd.Output()
		places := parsePlaces(string(out))
		// eu-addr2line prints answers, and fails, for an object without lines.
		if err != nil && len(places) != n {
			return nil, fmt.Errorf("%s %s: %w%s", t.Name, object, err, stderrOf(err))
		}
		if len(places) != n {
			return nil, fmt.Errorf("%s %s: %d answers to %d addresses", t.Name, object, len(places), n)
		}
		all = append(all, places...)
		addresses = addresses[n:]
	}
	return all, nil
}

// parsePlaces parses the output of a tool.
func parsePlaces(text string) (all [][]Place) {
	function := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case addressLine.MatchString(line):
			all, function = append(all, nil), ""
		case len(all) == 0 || line == "":
		case function == "":
			function = demangled(line)
		default:
			p := parsePlace(line)
			p.Function = function
			all[len(all)-1] = append(all[len(all)-1], p)
			function = ""
		}
	}
	return all
}

// parsePlace reads FILE:LINE, with or without a column after it.
func parsePlace(text string) (p Place) {
	m := placeLine.FindStringSubmatch(text)
	if m == nil {
		return p
	}
	if line, err := strconv.Atoi(m[2]); err == nil && line > 0 && m[1] != "??" && m[1] != "" {
		p.File, p.Line = filepath.Base(m[1]), line
	}
	return p
}

// demangled returns a name as perf prints it: without the parameters of C++.
func demangled(name string) string { return demangle.Filter(name, demangle.NoParams) }

// stderrOf returns the messages of a program that failed.
func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return ": " + strings.TrimSpace(string(exit.Stderr))
	}
	return ""
}
