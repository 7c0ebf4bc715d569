package profile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/perfdata"
)

// This file runs perf script.

// A dialect says what the text of a perf script has.
type dialect struct {
	time    bool // the samples have times
	places  bool // the name of a file is followed by the place in it (field dsoff, since perf 6.4)
	offsets bool // callers in user space have the place in the file in place of the address
}

// dialectOf asks a perf which fields it knows.
func dialectOf(ctx context.Context, perf string, rec *recorded) (d dialect, err error) {
	d.time = rec.fields&perfdata.FieldTime != 0
	help, err := perfCommand(ctx, perf, "script", "-h").CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return d, perfError(ctx, perf, err, nil)
	}
	if d.places = dsoff.Match(help); d.places {
		return d, nil
	}
	version, err := perfCommand(ctx, perf, "--version").Output()
	if err != nil {
		return d, perfError(ctx, perf, err, nil)
	}
	d.offsets = printsOffsets(string(version))
	return d, nil
}

// dsoff matches the field in perf script's help, in the list of fields.
var dsoff = regexp.MustCompile(`(?i)Fields: *\S*\bdsoff\b`)

// versionNumber matches the first two numbers of what perf --version prints.
var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)`)

// printsOffsets reports whether perf script of a version prints places in files as addresses of
// callers: from 5.18 to 6.2. No list of fields tells.
func printsOffsets(version string) bool {
	m := versionNumber.FindStringSubmatch(version)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major == 5 && minor >= 18 || major == 6 && minor <= 2
}

// fields returns the argument of perf script's option -F. comm is missing: a name may contain a newline.
func (d *dialect) fields() string {
	fields := "pid,tid,period,event,ip,sym,symoff,dso"
	if d.time { // perf refuses fields that an event does not have
		fields += ",time"
	}
	if d.places {
		fields += ",dsoff"
	}
	return fields
}

// perfCommand prepares a run of perf, with the user's configuration: it may name a build-id cache.
func perfCommand(ctx context.Context, perf string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, perf, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = 5 * time.Second // for processes that perf has left running
	return cmd
}

// readScript runs perf script and adds its samples as they come. Where its stacks do not say where samples
// were taken, it asks a second time.
func (t *tables) readScript(ctx context.Context, perf string, opts *Options) error {
	d, err := dialectOf(ctx, perf, t.rec)
	if err != nil {
		return err
	}
	err = t.runScript(ctx, perf, opts, d, nil, func(s *scriptSample) { t.add(s, d) })
	if err != nil || !t.needsAddresses() {
		return err
	}
	next, unreadable := 0, t.unreadable
	err = t.runScript(ctx, perf, opts, d, []string{"-G"}, func(s *scriptSample) {
		t.setAddress(next, s, d)
		next++
	})
	t.unreadable = unreadable // each line counts once
	return err
}

// runScript runs perf script, with more options, and passes its samples on.
func (t *tables) runScript(ctx context.Context, perf string, opts *Options, d dialect, more []string, add func(*scriptSample)) error {
	args := append([]string{"script", "-i", opts.Path, "--no-inline", "--ns", "-F", d.fields()}, more...)
	if opts.Force {
		args = append(args, "-f")
	}
	cmd := perfCommand(ctx, perf, args...)
	var stderr headBuffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return perfError(ctx, perf, err, nil)
	}
	r := newScriptReader(bufio.NewReaderSize(out, 1<<18), d, t.rec.events)
	reading := r.all(add)
	t.unreadable += r.unreadable
	if reading != nil {
		cmd.Process.Kill() // it may have much more to print
	}
	err = cmd.Wait()
	switch {
	case err != nil && reading == nil, ctx.Err() != nil:
		return perfError(ctx, perf, err, stderr.Bytes())
	case reading != nil:
		return fmt.Errorf("%s script: its output cannot be read: %w", quote.Printable(perf), reading)
	}
	return nil
}

func (r *scriptReader) all(add func(*scriptSample)) error {
	for {
		s, err := r.next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		add(s)
	}
}

// perfError returns why perf did not do what it should, in one sentence: perf's own words if it wrote
// any.
func perfError(ctx context.Context, perf string, err error, stderr []byte) error {
	name := quote.Printable(perf)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: there is no such program; install perf: the package linux-perf, perf or linux-tools", name)
	}
	for line := range bytes.Lines(stderr) {
		if text := strings.TrimSpace(string(line)); text != "" && !strings.HasPrefix(text, "Warning:") {
			return fmt.Errorf("%s script: %s", name, quote.Printable(text))
		}
	}
	return fmt.Errorf("%s script: %w", name, err)
}

// A headBuffer keeps the first bytes that are written to it.
type headBuffer struct{ bytes.Buffer }

const maxHead = 4 << 10

// Write implements io.Writer. It never fails.
func (b *headBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxHead-b.Len()))])
	return len(p), nil
}
