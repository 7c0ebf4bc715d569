package perfrun

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/terminal"
)

// A View is a command of perf that shows a recording.
type View struct {
	Perf    string // path
	Command string // report, annotate, script or diff
	Typed   []string
}

// Arguments returns the arguments for perf. Added words come before the typed ones, because perf
// takes the last of several options.
//
//   - -i result, except for diff
//   - diff: -s sym. By default perf compares functions by object, too, and each run has objects of its
//     own. The files are result.old and result, unless files were typed.
//   - --asm-raw for perf 6.12, which otherwise crashes at branches that leave the file. For report,
//     only on a terminal, where it shows instructions, too.
func (v *View) Arguments(result string) []string {
	args := []string{v.Command}
	if v.needsRaw() {
		args = append(args, "--asm-raw")
	}
	if v.Command != "diff" {
		return append(append(args, "-i", result), v.Typed...)
	}
	args = append(append(args, "-s", "sym"), v.Defaults(result)...)
	return append(args, v.Typed...)
}

// Defaults returns the files that perf reads because no others were typed. Another option whose value
// looks like -i counts as an input, too.
func (v *View) Defaults(result string) []string {
	if v.Command != "diff" {
		if slices.ContainsFunc(v.Typed, inputOption.MatchString) {
			return nil
		}
		return []string{result}
	}
	all := []string{result + ".old", result}
	return all[:max(0, len(all)-v.files())]
}

// needsRaw reports whether this perf crashes when it shows instructions without their bytes.
func (v *View) needsRaw() bool {
	if v.Command != "annotate" && (v.Command != "report" || !terminal.Is(os.Stdout)) {
		return false
	}
	version, err := exec.Command(v.Perf, "--version").Output()
	return err == nil && strings.HasPrefix(string(version), "perf version 6.12.")
}

// inputOption matches --input, its abbreviations, and clusters of letters with i.
var inputOption = regexp.MustCompile(`^(--i|--in|--inp|--inpu|--input|-[A-Za-z]*i.*|--i(n(p(ut?)?)?)?=.*)$`)

// valueOption matches an option in perf's help whose value may be the next word.
var valueOption = regexp.MustCompile(`(?m)^ {4}(?:-(\w), | {4})--([\w-]+) <`)

// files returns the number of files that were typed for perf diff.
func (v *View) files() (n int) {
	help, _ := exec.Command(v.Perf, v.Command, "-h").CombinedOutput() // it fails: perf prints usages with exit code 129
	var long []string
	short := ""
	for _, m := range valueOption.FindAllSubmatch(help, -1) {
		short += string(m[1])
		long = append(long, string(m[2]))
	}
	for i := 0; i < len(v.Typed); i++ {
		word := v.Typed[i]
		switch {
		case word == "--":
			return n + len(v.Typed) - i - 1
		case strings.HasPrefix(word, "--"):
			if takesWord(word[2:], long) {
				i++
			}
		case len(word) > 1 && word[0] == '-':
			if at := strings.IndexAny(word[1:], short); at == len(word)-2 {
				i++
			}
		default:
			n++
		}
	}
	return n
}

// takesWord reports whether the next word is the value of a long option, perhaps an abbreviated one.
func takesWord(name string, long []string) bool {
	for _, known := range long {
		if strings.HasPrefix(known, name) {
			return true
		}
	}
	return false
}
