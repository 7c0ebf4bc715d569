package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// README.md has a table of all vectors, with what perf 6.1 does, for comparison.

const (
	vectorPerf     = "6.1" // the perf of the table
	tableBegin     = "<!-- table -->\n"
	tableEnd       = "<!-- end of the table -->\n"
	vectorPerfTime = 20 * time.Second
	asDemanded     = "as demanded"
)

// row returns the beginning of a vector's row in the table.
func (v *vector) row() string {
	demanded := fmt.Sprint(v.exit)
	if v.functions != "" {
		demanded += ", `" + v.functions + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | ", v.name, v.comment, v.rule, demanded)
}

// The table of README.md has a row for each vector; -update writes it. What perf does is tried with
// JITINJECT_ALL.
func TestVectors_ReadmeHasTheTable(t *testing.T) {
	path, err := filepath.Abs(filepath.Join(vectorDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(b), tableBegin)
	old, tail, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("got no %q and %q in %s; want the table between them", tableBegin, tableEnd, path)
	}
	before := make(map[string]string) // what perf did, by vector
	for line := range strings.Lines(old) {
		if cells := strings.Split(line, " | "); len(cells) == 5 {
			before[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(cells[4], " |\n")
		}
	}
	perf := ""
	if os.Getenv("JITINJECT_ALL") != "" {
		for version, path := range testrec.Perfs(t) {
			if strings.HasPrefix(version, vectorPerf+".") {
				perf = path
			}
		}
	}
	var table strings.Builder
	table.WriteString("| vector | what is special | rule | demanded | perf " + vectorPerf + " |\n|---|---|---|---|---|\n")
	for _, v := range allVectors(t) {
		does := before[v.name]
		if perf != "" {
			does = v.perf(t, perf)
		}
		if does == "" && !*update {
			t.Errorf("got no row of %s with what perf does; want it written by JITINJECT_ALL=1 go test -run Vectors -update", v.name)
		}
		table.WriteString(v.row() + does + " |\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+tableBegin+table.String()+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != table.String() {
		t.Errorf("got another table in README.md; want it written by go test -run Vectors -update:\n%s", table.String())
	}
}

// perf returns what perf inject --jit does with a vector.
func (v *vector) perf(t *testing.T, perf string) string {
	t.Helper()
	var what string
	t.Run(v.name, func(t *testing.T) {
		stageVector(t, v)
		rec, err := os.ReadFile("perf.data")
		if err != nil {
			t.Fatal(err)
		}
		// perf has no option for the place of dumps.
		if err := os.WriteFile("perf.data", bytes.ReplaceAll(rec, []byte("/DIR/"), []byte("././/")), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), vectorPerfTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, perf, "inject", "--jit", "-i", "perf.data", "-o", "out.data")
		cmd.Env = testrec.Command(t, ".", perf).Env
		out, err := cmd.CombinedOutput()
		what = perfOutcome(ctx, err)
		silent := len(bytes.TrimSpace(out)) == 0
		st, staterr := os.Stat("out.data")
		leaves := staterr == nil && st.Size() > 0
		switch {
		case err == nil:
			names, err := resolvedNames("out.data")
			if err == nil && v.exit == exitOK && sameNames(names, strings.Fields(v.functions)) {
				what = asDemanded
				return
			}
			if what += ", `" + shown(names) + "`"; err != nil {
				what = "0, and the result cannot be read"
			}
		case leaves:
			what += ", and a file that is no result stays"
		case what == fmt.Sprint(v.exit) && !silent:
			what = asDemanded
		}
		if silent {
			what += ", no message"
		}
	})
	return what
}

// shown joins names for a table. Where perf has read beyond a name, it says so.
func shown(names []string) string {
	for i, name := range names {
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
			names[i] = "(code as a name)"
		} else if name == "" {
			names[i] = "(none)"
		}
	}
	return strings.Join(names, " ")
}

// perfOutcome says how perf ended.
func perfOutcome(ctx context.Context, err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case ctx.Err() != nil:
		return "**does not end**"
	case !errors.As(err, &exit):
		return err.Error()
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("**crash** (%s)", status.Signal())
	}
	return fmt.Sprint(exit.ExitCode())
}
