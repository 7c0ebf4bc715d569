package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A studio runs programs in a directory, and writes pictures of their output.
type studio struct {
	dir, out         string
	jitinject, agent string
}

func main() {
	var s studio
	flag.StringVar(&s.jitinject, "jitinject", "bin/jitinject", "the program")
	flag.StringVar(&s.agent, "agent", "bin/libjitinject-jvmti.so", "the agent for Java")
	flag.StringVar(&s.out, "out", "docs/pictures", "where the pictures go")
	flag.Parse()
	if err := s.make(); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// make makes all pictures.
func (s *studio) make() (err error) {
	for _, path := range []*string{&s.jitinject, &s.agent, &s.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if s.dir, err = os.MkdirTemp("", "app"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	for _, name := range []string{"life.js", "App.java"} {
		b, err := os.ReadFile(filepath.Join("docs/runtimes/programs", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir, name), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(s.node(), s.java(), s.session())
}

// run runs a line of shell and returns what it printed. jitinject is in its path.
func (s *studio) run(line string) (string, error) {
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "AGENT="+s.agent, "PATH="+filepath.Dir(s.jitinject)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return strings.ReplaceAll(string(out), s.dir, "/home/me/app"), nil
}

// write writes a picture.
func (s *studio) write(name string, picture []byte) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, name), picture, 0o644)
}

// recordNode records life.js with whole stacks and V8's log.
const recordNode = "perf record -q -k mono -F 997 --call-graph dwarf,16384 -o perf.data node --perf-prof --log-code --log-source-code --interpreted-frames-native-stack life.js"

// node makes the pictures of JavaScript.
func (s *studio) node() error {
	if _, err := s.run(recordNode + " >/dev/null && jitinject -q"); err != nil {
		return err
	}
	return errors.Join(
		s.page(),
		s.still("inlines-js.svg", "$ perf report --no-children -G -i perf.jit.data",
			"perf report --stdio --no-children -G --max-stack 7 --percent-limit 8 -i perf.jit.data 2>/dev/null | "+compact),
		s.still("annotate.svg", "$ perf annotate -l -i perf.jit.data", annotate))
}

// page makes the picture of the page, as a browser shows it at first.
func (s *studio) page() error {
	shell := `jitinject view --no-open -o page.html && $(command -v chromium chromium-browser google-chrome | head -1) --headless --no-sandbox --disable-gpu \
		--user-data-dir="$PWD/browser" --window-size=1100,800 --screenshot="$PWD/page.png" "file://$PWD/page.html"`
	if out, err := s.run(shell); err != nil {
		return err
	} else if _, err := os.Stat(filepath.Join(s.dir, "page.png")); err != nil {
		return fmt.Errorf("the browser made no picture: %s", out)
	}
	picture, err := os.ReadFile(filepath.Join(s.dir, "page.png"))
	if err != nil {
		return err
	}
	return s.write("page.png", picture)
}

// compact drops empty lines and comments of perf report, and shows the beginning.
const compact = `grep -v '^#' | grep '[^ |]' | head -26`

// annotate shows the lines of the hottest function of JavaScript, and the code around its hottest
// instruction.
const annotate = `
hottest=$(perf report --stdio --no-children -g none -F overhead,sym -i perf.jit.data 2>/dev/null | grep -m1 -o 'JS:\*.*' | sed 's/ *$//')
perf annotate --stdio -l -i perf.jit.data "$hottest" 2>/dev/null | grep -v '^$' | awk '
	/^ Percent/ && ++parts == 2 { exit }
	{ line[NR] = $0 }
	/^ *[0-9.]+ +[^ ]+:[0-9]+$/ && !parts && summary++ < 6
	/^ *[0-9.]+ +: +[0-9a-f]+:/ && $1 > most { most = $1; at = NR }
	END { print "..."; for (i = at - 9; i <= at + 8; i++) print line[i] }'`

// java makes the picture of Java.
func (s *studio) java() error {
	if _, err := s.run("javac -g App.java && perf record -q -k mono -F 997 --call-graph dwarf,8192 -o perf.data java -agentpath:$AGENT App >/dev/null && jitinject -q"); err != nil {
		return err
	}
	return s.still("inlines-java.svg", "$ perf report --no-children -G -i perf.jit.data",
		"perf report --stdio --no-children -G --max-stack 12 --percent-limit 8 -i perf.jit.data 2>/dev/null | "+compact)
}

// still makes a picture of a command and what a line of shell prints.
func (s *studio) still(name, command, shell string) error {
	text, err := s.run(shell)
	if err != nil {
		return err
	}
	lines := []line{{text: command}}
	for l := range strings.Lines(text) {
		lines = append(lines, line{text: strings.TrimRight(l, " \n")})
	}
	if len(lines) < 5 {
		return fmt.Errorf("%s: %s printed only %q", name, shell, text)
	}
	var b bytes.Buffer
	writeTerminal(&b, lines, 0)
	return s.write(name, b.Bytes())
}

// session makes the animated picture: the commands of a first use, with their output.
func (s *studio) session() error {
	if _, err := s.run("rm -f perf.* *.so *.dump *v8.log"); err != nil {
		return err
	}
	var lines []line
	at := 0.5
	for _, c := range []struct{ typed, shell string }{
		{"perf record -k mono -g node --perf-prof life.js", "perf record -q -F 997 -k mono -g -o perf.data node --perf-prof life.js"},
		{"perf report", "perf report --stdio --no-children -g none 2>/dev/null | grep -v '^#' | grep . | head -4"},
		{"jitinject", "jitinject"},
		{"perf report -i perf.jit.data", "perf report --stdio --no-children -g none -i perf.jit.data 2>/dev/null | grep -v '^#' | grep . | head -5"},
	} {
		text, err := s.run(c.shell)
		if err != nil {
			return err
		}
		typing := float64(len(c.typed)) * 0.045
		lines = append(lines, line{"$ " + c.typed, at, typing})
		at += typing + 0.5
		for l := range strings.Lines(text) {
			lines = append(lines, line{text: strings.TrimRight(l, " \n"), at: at})
		}
		at += 1.6
	}
	var b bytes.Buffer
	writeTerminal(&b, lines, max(15, at+2))
	return s.write("session.svg", b.Bytes())
}
