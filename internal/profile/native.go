package profile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/mangled"
	"github.com/jitinject/jitinject/internal/quote"
)

// This file asks addr2line of binutils about native code. perf asks it, too, but address by address,
// and makes it search all symbols after each.

// expandNative adds lines and inlined calls of native code. Files without any are left as they are.
func (t *tables) expandNative(ctx context.Context) error {
	program, err := exec.LookPath("addr2line")
	if err != nil {
		t.faults = append(t.faults, "lines of native code are missing: there is no addr2line; install binutils")
		return nil
	}
	of, files := t.placesOf(Native)
	failed := 0
	var first error
	for _, file := range files {
		if !strings.HasPrefix(file, "/") { // [vdso] and such
			continue
		}
		err := t.askAddr2line(ctx, program, file, of[file])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if failed++; first == nil {
				first = err
			}
		}
	}
	if failed > 0 {
		t.faults = append(t.faults, fmt.Sprintf("lines of the native code of %d files are missing; the first: %v", failed, first))
	}
	return nil
}

// askAddr2line asks one addr2line about all places of a file.
func (t *tables) askAddr2line(ctx context.Context, program, file string, places []int) error {
	f, err := t.openELF(file)
	if err != nil {
		return err
	}
	lookups, asking := t.lookups(f.elf, places)
	path := f.path
	f.close()
	var questions bytes.Buffer
	for i := range lookups {
		fmt.Fprintf(&questions, "%#x\n", lookups[i].addr)
	}
	cmd := exec.CommandContext(ctx, program, "-e", path, "-a", "-f", "-i")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin = &questions
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var stderr headBuffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	reading := readAnswers(out, lookups)
	if reading != nil {
		cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil && reading == nil {
		return fmt.Errorf("%s: addr2line: %w: %s", quote.Printable(file), err, quote.Printable(strings.TrimSpace(stderr.String())))
	}
	if reading != nil {
		return fmt.Errorf("%s: addr2line: %w", quote.Printable(file), reading)
	}
	t.answer(lookups, asking)
	return nil
}

// readAnswers reads what addr2line prints: for each address a line with the address, and for each
// function there, the innermost first, a line with its name and one with its file and line.
func readAnswers(out io.Reader, lookups []lookup) error {
	in := bufio.NewReaderSize(out, 1<<16)
	var q *lookup
	for {
		name, err := in.ReadString('\n')
		if err == io.EOF && name == "" {
			return nil
		} else if err != nil {
			return cmp.Or(noEOF(err), io.ErrUnexpectedEOF)
		}
		name = strings.TrimSuffix(name, "\n")
		if digits, ok := strings.CutPrefix(name, "0x"); ok {
			addr, err := strconv.ParseUint(digits, 16, 64)
			if err != nil {
				return fmt.Errorf("an address is %q", name)
			}
			i, found := slices.BinarySearchFunc(lookups, addr, func(q lookup, addr uint64) int { return cmp.Compare(q.addr, addr) })
			if !found {
				return fmt.Errorf("an answer about %#x, which was not asked", addr)
			}
			q = &lookups[i]
			continue
		}
		place, err := in.ReadString('\n')
		if err != nil || q == nil {
			return cmp.Or(noEOF(err), io.ErrUnexpectedEOF)
		}
		file, line := cutPlace(strings.TrimSuffix(place, "\n"))
		if name != "??" || file != "" {
			q.answer = append(q.answer, located{&origin{name: mangled.WithoutParameters(name)}, file, line})
		}
	}
}

// noEOF returns an error that is not io.EOF, or nil.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// cutPlace divides "FILE:LINE", or "FILE:LINE (discriminator N)". ?? are unknown.
func cutPlace(text string) (file string, line int) {
	text, _, _ = strings.Cut(text, " (discriminator ")
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return "", 0
	}
	file = text[:at]
	line, err := strconv.Atoi(text[at+1:])
	if file == "??" || err != nil || line <= 0 {
		return "", 0
	}
	return file, line
}
