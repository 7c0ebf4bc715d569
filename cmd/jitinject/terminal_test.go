package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A testTerminal is the other side of one that programs write to.
type testTerminal struct {
	slave *os.File // what programs get

	master *os.File
	mu     sync.Mutex
	got    []byte
	over   chan struct{}
}

// openTerminal makes a terminal of 80 columns.
func openTerminal(t *testing.T) *testTerminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testrec.Skip(t, "no terminals here: %v", err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	tty := &testTerminal{slave: slave, master: master, over: make(chan struct{})}
	go func() {
		defer close(tty.over)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			tty.mu.Lock()
			tty.got = append(tty.got, buf[:n]...)
			tty.mu.Unlock()
			if err != nil { // all programs have closed it
				return
			}
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return tty
}

// raw returns what has been written to the terminal.
func (tty *testTerminal) raw() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return string(tty.got)
}

// wait waits until f is true of what has been written.
func (tty *testTerminal) wait(t *testing.T, what string, f func(raw string) bool) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if raw := tty.raw(); f(raw) {
			return raw
		}
	}
	raw := tty.raw()
	t.Fatalf("%s does not come:\n%q", what, raw[max(0, len(raw)-1000):])
	return ""
}

// close closes the program's side, and returns all that was written.
func (tty *testTerminal) close() string {
	tty.slave.Close()
	select {
	case <-tty.over:
	case <-time.After(5 * time.Second):
	}
	return tty.raw()
}

// screenOf returns the lines that one sees after raw was written to a terminal, and
// where the cursor is. It knows what the bar uses and fails on anything else.
func screenOf(t *testing.T, raw string) (lines []string, x int) {
	t.Helper()
	rows, y := [][]byte{nil}, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\r':
			x = 0
		case c == '\n':
			if y++; y == len(rows) {
				rows = append(rows, nil)
			}
		case c == 0x1b && i+1 < len(raw) && raw[i+1] == '[':
			end := i + 2
			for end < len(raw) && (raw[end] == '?' || raw[end] >= '0' && raw[end] <= '9') {
				end++
			}
			if end == len(raw) {
				return nil, 0 // cut
			}
			n, _ := strconv.Atoi(raw[i+2 : end])
			switch raw[end] {
			case 'A':
				y = max(0, y-max(n, 1))
			case 'J':
				rows = rows[:y+1]
				rows[y] = rows[y][:min(x, len(rows[y]))]
			case 'K':
				rows[y] = rows[y][:min(x, len(rows[y]))]
			default:
				t.Errorf("an escape sequence %q", raw[i:end+1])
			}
			i = end
		default:
			for len(rows[y]) <= x {
				rows[y] = append(rows[y], ' ')
			}
			rows[y][x] = c
			x++
		}
	}
	for _, r := range rows {
		lines = append(lines, strings.TrimRight(string(r), " "))
	}
	return lines, x
}
