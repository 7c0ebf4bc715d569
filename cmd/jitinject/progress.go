package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/words"
)

const (
	barDelay  = time.Second            // what takes less shows no bar
	barTick   = 100 * time.Millisecond // between two looks at how far it is
	lineEvery = 2 * time.Second        // between two lines where there is no terminal
	resolve   = 3 * time.Second        // how long a change of speed takes to show
	barWidth  = 30                     // of a bar with its ends, in columns
)

// A meter shows how far a run is: as a bar at the bottom of a terminal, or now and then
// as a line.
type meter struct {
	console  *console
	terminal *os.File // nil: lines
	progress *report.Progress
	after    time.Duration // when it is shown first
	began    time.Time     // the run

	stop, stopped chan struct{}

	// What follows is used under the console's lock.
	gauge gauge
	drawn bool      // there is a bar on the screen
	last  time.Time // when a line was written
}

// showProgress shows how far a run is until it is told to stop, as --progress says. auto
// shows a bar if messages go to a terminal that is ours alone: in a pipeline others
// write there, too.
func showProgress(stderr io.Writer, mode string, shared bool, p *report.Progress) (stop func()) {
	c, ok := stderr.(*console)
	if !ok || mode == "never" {
		return func() {}
	}
	m := &meter{console: c, terminal: c.terminal(), progress: p, after: barDelay, began: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	if mode == "always" {
		m.after = 0
	} else if m.terminal == nil || shared {
		return func() {}
	}
	c.mu.Lock()
	c.meter = m
	c.mu.Unlock()
	go m.run()
	return func() {
		close(m.stop)
		<-m.stopped
		c.mu.Lock()
		defer c.mu.Unlock()
		m.hide()
		c.meter = nil
	}
}

func (m *meter) run() {
	defer close(m.stopped)
	tick := time.NewTicker(barTick)
	defer tick.Stop()
	for now := m.began; ; {
		s := m.progress.State()
		m.console.mu.Lock()
		m.gauge.update(s, now)
		if now.Sub(m.began) >= m.after && s.Phase != report.PhaseOpen {
			m.show(s, now)
		}
		m.console.mu.Unlock()
		select {
		case now = <-tick.C:
		case <-m.stop:
			return
		}
	}
}

// show brings the bar up to date, or writes a line.
func (m *meter) show(s report.ProgressState, now time.Time) {
	left, right := m.gauge.text(s)
	if m.terminal == nil {
		if now.Sub(m.last) >= lineEvery {
			if right != "" {
				right = ": " + right
			}
			fmt.Fprintf(m.console.w, "%s%s\n", left, right)
			m.last = now
		}
		return
	}
	m.draw(barLine(left, right, s, terminal.Columns(m.terminal)-1))
	m.drawn = true
}

// barLine returns a bar between two texts, in at most width columns. There is no bar if the total is
// unknown, or if there is no room.
func barLine(left, right string, s report.ProgressState, width int) string {
	line := left + " "
	if inner := min(barWidth, width-len(left)-len(right)-2) - 2; s.Total > 0 && inner > 0 {
		bar := strings.Repeat("=", int(float64(inner)*min(1, float64(s.Done)/float64(s.Total)))) + ">"
		line += fmt.Sprintf("[%-*s] ", inner, bar[:min(len(bar), inner)])
	}
	line += right
	return line[:max(0, min(len(line), width))]
}

// hide takes the bar off the screen.
func (m *meter) hide() {
	if m.drawn {
		m.draw("")
	}
	m.drawn = false
}

// draw writes a line in place of what is below the cursor, which stays at its beginning. A terminal that
// becomes narrower and breaks the line in two leaves it there. It is also found there after the keyboard
// has printed ^C.
func (m *meter) draw(line string) {
	if terminal.InForeground(m.terminal) { // or else the terminal belongs to others
		fmt.Fprintf(m.terminal, "\r\x1b[J%s\r", line)
	}
}

// A gauge knows how fast a phase goes.
type gauge struct {
	phase report.Phase
	total int64
	since time.Time     // when the phase began
	took  time.Duration // of it
	done  int64
	rate  float64 // a second, of late
}

// update takes in how far the run is.
func (g *gauge) update(s report.ProgressState, now time.Time) {
	if s.Phase != g.phase || s.Total != g.total || s.Done < g.done { // the next phase, or the next file
		*g = gauge{phase: s.Phase, total: s.Total, since: now}
	}
	took := now.Sub(g.since)
	if took <= resolve {
		if took >= barTick {
			g.rate = float64(s.Done) / took.Seconds()
		}
	} else if step := (took - g.took).Seconds(); step > 0 {
		g.rate += (float64(s.Done-g.done)/step - g.rate) * step / (step + resolve.Seconds())
	}
	g.done, g.took = s.Done, took
}

// text says what is done, and how far, how fast and how long.
func (g *gauge) text(s report.ProgressState) (left, right string) {
	speed := words.Size(int64(g.rate)) + "/s"
	switch s.Phase {
	case report.PhaseObjects:
		speed = words.Number(int64(g.rate)) + " functions/s"
	case report.PhaseUndo:
		speed = words.Number(int64(g.rate)) + " files/s"
	}
	if !s.Phase.IsCounted() {
		return s.Phase.String(), ""
	}
	if s.Total <= 0 {
		return s.Phase.String(), fmt.Sprintf("%s, %s", words.Size(s.Done), speed)
	}
	right = fmt.Sprintf("%3d%%", min(100, int64(100*float64(s.Done)/float64(s.Total))))
	if g.rate >= 1 { // what matters most comes first: narrow terminals cut the rest off
		if g.took >= barDelay/2 {
			right += "  " + remaining(float64(max(0, s.Total-s.Done))/g.rate) + " left"
		}
		right += "  " + speed
	}
	return s.Phase.String(), right
}

// remaining is a number of seconds, in words that fit.
func remaining(seconds float64) string {
	switch s := int64(seconds + 0.999); {
	case s < 100:
		return fmt.Sprintf("%d s", s)
	case s < 100*60:
		return fmt.Sprintf("%d min", (s+59)/60)
	case s < 100*3600:
		return fmt.Sprintf("%d h", (s+3599)/3600)
	}
	return "days"
}
