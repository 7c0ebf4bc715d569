package terminal

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// openTerminal returns a terminal of unknown size.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testrec.Skip(t, "no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return slave
}

func TestWidth_OfTerminalAndColumns(t *testing.T) {
	tty := openTerminal(t)
	for _, c := range []struct {
		columns string
		size    uint16
		want    int
	}{{"", 0, 80}, {"", 20, 40}, {"", 50, 50}, {"", 90, 90}, {"", 200, 100}, {"70", 200, 70}, {"x", 60, 60}, {"0", 60, 60}} {
		t.Setenv("COLUMNS", c.columns)
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: c.size}); err != nil {
			t.Fatal(err)
		}
		if got := Width(tty); got != c.want {
			t.Errorf("for %d columns and COLUMNS=%s: got %d; want %d", c.size, c.columns, got, c.want)
		}
	}
	t.Setenv("COLUMNS", "70")
	if got := Width(nil); got != 80 {
		t.Errorf("got %d without a terminal; want 80", got)
	}
}
