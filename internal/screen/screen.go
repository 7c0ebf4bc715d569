package screen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Size of the screen in pixels.
const (
	Width  = 1200
	Height = 700
)

// A Screen is a running Xvfb. It has no window manager.
type Screen struct {
	server  *exec.Cmd
	dir     string   // of its framebuffer
	environ []string // of programs on it
}

// Tools are the programs that package screen needs.
func Tools() []string { return []string{"Xvfb", "xdotool"} }

// Start starts a screen. Programs on it have home as their home directory and cache. The caller closes
// the screen.
func Start(home string) (s *Screen, err error) {
	s = &Screen{}
	if s.dir, err = os.MkdirTemp("", "screen"); err != nil {
		return nil, err
	}
	// Xvfb chooses a free display and writes its number. Without -noreset, it would start again,
	// and refuse connections for a moment, after each program that was alone on it.
	number, server, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	defer number.Close()
	s.server = exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", Width, Height), "-fbdir", s.dir, "-nolisten", "tcp", "-noreset")
	s.server.ExtraFiles = []*os.File{server}
	err = s.server.Start()
	server.Close()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	answer, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no display of Xvfb: %w", err), s.Close())
	}
	s.environ = append(os.Environ(), "DISPLAY=:"+strings.TrimSpace(answer), "HOME="+home, "XDG_RUNTIME_DIR="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home,
		"QT_QPA_PLATFORM=xcb", "LC_ALL=C.UTF-8", "DEBUGINFOD_URLS=")
	// It may not yet accept connections.
	for range 50 {
		if _, err = s.xdotool("getdisplaygeometry"); err == nil {
			return s, nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil, errors.Join(err, s.Close())
}

// Close ends the screen. Programs that still run on it end as well.
func (s *Screen) Close() error {
	err := s.server.Process.Signal(syscall.SIGTERM) // it removes its lock
	_ = s.server.Wait()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// A Window is a window of a program that runs on a screen.
type Window struct {
	screen  *Screen
	id      string
	program *exec.Cmd
	ended   chan struct{}
	printed bytes.Buffer // valid when ended is closed
}

// Open starts a program in a directory. It returns the first window with a title, which fills the screen
// and has the keyboard. The error has what the program printed if it ends before. The caller closes the
// window.
func (s *Screen) Open(timeout time.Duration, dir, title, name string, args ...string) (*Window, error) {
	w := &Window{screen: s, program: exec.Command(name, args...), ended: make(chan struct{})}
	w.program.Dir, w.program.Env = dir, s.environ
	w.program.Stdout, w.program.Stderr = &w.printed, &w.printed
	if err := w.program.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = w.program.Wait() // the window that is missing says so
		close(w.ended)
	}()
	for end := time.Now().Add(timeout); ; time.Sleep(200 * time.Millisecond) {
		found, err := s.xdotool("search", "--onlyvisible", "--name", title)
		if w.id, _, _ = strings.Cut(found, "\n"); err == nil && w.id != "" {
			break
		}
		if err := w.Running(); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			w.Close()
			return nil, fmt.Errorf("%s: no window %q in %v; it printed:\n%s", name, title, timeout, w.printed.Bytes())
		}
	}
	_, err := s.xdotool("windowmove", w.id, "0", "0", "windowsize", w.id, fmt.Sprint(Width), fmt.Sprint(Height), "windowfocus", w.id)
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Running returns an error with what the program printed if it has ended.
func (w *Window) Running() error {
	select {
	case <-w.ended:
		return fmt.Errorf("%s ended: %v\n%s", w.program.Path, w.program.ProcessState, w.printed.Bytes())
	default:
		return nil
	}
}

// Close ends the program.
func (w *Window) Close() {
	_ = w.program.Process.Kill() // fails if it has ended
	<-w.ended
}

// Keys presses keys one after the other, by their names in X: "alt+v", "Return". The program gets a moment
// after each.
func (w *Window) Keys(keys ...string) error {
	for _, k := range keys {
		if _, err := w.screen.xdotool("key", k); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
	}
	return w.Running()
}

// Type types a text.
func (w *Window) Type(text string) error {
	_, err := w.screen.xdotool("type", "--delay", "30", text)
	return errors.Join(err, w.Running())
}

// Click clicks at a point of the screen.
func (w *Window) Click(at image.Point) error {
	_, err := w.screen.xdotool("mousemove", fmt.Sprint(at.X), fmt.Sprint(at.Y), "click", "1")
	return errors.Join(err, w.Running())
}

// xdotool runs xdotool, and returns what it prints.
func (s *Screen) xdotool(args ...string) (string, error) {
	cmd := exec.Command("xdotool", args...)
	cmd.Env = s.environ
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("xdotool %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// Picture returns what the screen shows.
func (s *Screen) Picture() (image.Image, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "Xvfb_screen0"))
	if err != nil {
		return nil, err
	}
	return decodeXWD(b)
}

// PNG returns what the screen shows, as a file.
func (s *Screen) PNG() ([]byte, error) {
	m, err := s.Picture()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, m)
	return b.Bytes(), err
}
