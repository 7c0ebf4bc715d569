package export

import (
	"encoding/base64"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/testrec"
)

// viewers returns the modules of the folder that script/viewers fills.
func viewers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("JITINJECT_VIEWERS")
	if dir == "" {
		testrec.Skip(t, "no viewers; JITINJECT_VIEWERS=DIR names the folder that script/viewers fills")
	}
	return filepath.Join(dir, "node_modules")
}

// export writes a file with the suffix of its format, which viewers look at, and returns its path.
func export(t *testing.T, format string, p *profile.Profile) (path string) {
	t.Helper()
	for _, f := range Formats() {
		if f.Name == format {
			path = filepath.Join(t.TempDir(), "x"+f.Suffix)
		}
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(file, format, p, Options{Program: "jitinject 1.2.3"}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// profilerCLI is the command line of the Firefox Profiler: its own code upgrades the profile to the
// present version, and makes the call trees of the web page. A process keeps the profile between
// commands.
type profilerCLI struct {
	t       *testing.T
	program []string
	env     []string
}

func loadFirefox(t *testing.T, p *profile.Profile) *profilerCLI {
	t.Helper()
	modules := viewers(t)
	cli := &profilerCLI{
		t:       t,
		program: []string{filepath.Join(modules, ".bin", "node"), filepath.Join(modules, "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")},
		env:     append(os.Environ(), "PROFILER_CLI_NO_SYMBOLICATE=1", "PROFILER_CLI_SESSION_DIR="+t.TempDir()),
	}
	// The command load starts this process, too, but gives up after half a second.
	daemon := cli.command("--daemon", export(t, "firefox", p), "--session", "test")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		daemon.Process.Kill()
		daemon.Wait()
	})
	for end := time.Now().Add(2 * time.Minute); ; {
		out, err := cli.command("profile", "info").CombinedOutput()
		if err == nil {
			return cli
		}
		if time.Now().After(end) {
			t.Fatalf("profile info: %v\n%.2000s", err, out)
		}
	}
}

func (cli *profilerCLI) command(words ...string) *exec.Cmd {
	cmd := exec.Command(cli.program[0], append(cli.program[1:], words...)...)
	cmd.Env = cli.env
	return cmd
}

// run returns what a command prints.
func (cli *profilerCLI) run(words ...string) string {
	cli.t.Helper()
	out, err := cli.command(words...).CombinedOutput()
	if err != nil {
		cli.t.Errorf("%s: %v\n%.2000s", words, err, out)
	}
	return string(out)
}

func TestFirefox_ItsOwnProfiler(t *testing.T) {
	cli := loadFirefox(t, recorded())
	info := cli.run("profile", "info")
	for _, want := range []string{"3 threads across 2 processes", "p-0: node [pid 9]", "t-1: node worker [tid 11] - 1.000ms", "Linux 6.1.0 x86_64"} {
		if !strings.Contains(info, want) {
			t.Errorf("got:\n%swant %q", info, want)
		}
	}
	meta := cli.run("profile", "meta")
	for _, want := range []string{"Started: 2026-11-26T", "Sampling interval: 1ms", "CPU: A CPU", "Imported from: jitinject 1.2.3", "lost samples: 3"} {
		if !strings.Contains(meta, want) {
			t.Errorf("got:\n%swant %q", meta, want)
		}
	}
	cli.run("thread", "select", "t-0")
	tree := cli.run("thread", "samples-top-down", "--include-idle")
	for _, want := range []string{
		`node!main \[total: 75\.0%, self: 0\.0%\]`,
		`jitted-9-1\.so!run \[total: 75\.0%, self: 25\.0%\]`,
		`jitted-9-1\.so!add \(inl\) \[total: 50\.0%, self: 0\.0%\]\n.*jitted-9-1\.so!add \(inl\) \[total: 50\.0%, self: 50\.0%\]`,
		`\[unknown\] \[total: 25\.0%, self: 25\.0%\]`,
	} {
		if !regexp.MustCompile(want).MatchString(tree) {
			t.Errorf("got:\n%swant %s", tree, want)
		}
	}
	cli.run("thread", "select", "t-1")
	if tree := cli.run("thread", "samples-top-down", "--include-idle"); !strings.Contains(tree, "[kernel.kallsyms]!ksys_read") || !strings.Contains(tree, "libc.so.6![libc.so.6]") {
		t.Errorf("got:\n%swant the kernel's function and libc's", tree)
	}
}

func TestFirefox_ItsOwnProfilerWithHostileNames(t *testing.T) {
	cli := loadFirefox(t, hostile())
	if info := cli.run("profile", "info"); !strings.Contains(info, "16 threads across 16 processes") {
		t.Errorf("got:\n%.2000swant 16 threads", info)
	}
	cli.run("thread", "select", "t-15")
	if functions := cli.run("thread", "functions", "--limit", "0"); !strings.Contains(functions, "16 functions") || !strings.Contains(functions, "日本語 ✓ 😀") {
		t.Errorf("got:\n%.2000swant 16 functions", functions)
	}
	if long := cli.run("function", "expand", "f-7"); !strings.Contains(long, hostileNames[7]) {
		t.Errorf("got:\n%.2000swant a name of 64 KiB", long)
	}
}

// speedscopePage returns the text of speedscope's table of functions and of its list of profiles,
// with a line for each row: its own page loads the file in a browser without a window.
func speedscopePage(t *testing.T, format string, p *profile.Profile) string {
	t.Helper()
	release := filepath.Join(viewers(t), "speedscope", "dist", "release", "index.html")
	browser, err := exec.LookPath("chromium")
	if err != nil {
		testrec.Skip(t, "no chromium")
	}
	path := export(t, format, p)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// As speedscope's own command does it.
	script := filepath.Join(t.TempDir(), "load.js")
	load := `speedscope.loadFileFromBase64("` + filepath.Base(path) + `", "` + base64.StdEncoding.EncodeToString(content) + `")`
	if err := os.WriteFile(script, []byte(load), 0o600); err != nil {
		t.Fatal(err)
	}
	// The budget is time of the page, which passes faster than the browser's other threads load the
	// file: on a busy machine it may end before there is a table.
	var text string
	for budget := 20000; budget < 2000000; budget *= 2 {
		cmd := exec.Command(browser, "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
			"--user-data-dir="+t.TempDir(), "--window-size=1200,2000", "--virtual-time-budget="+strconv.Itoa(budget), "--dump-dom",
			"file://"+release+"#view=sandwich&localProfilePath="+script)
		var complaints strings.Builder
		cmd.Stderr = &complaints
		page, err := cmd.Output()
		if err != nil {
			t.Fatalf("chromium: %v\n%s", err, complaints.String())
		}
		_, body, _ := strings.Cut(string(page), "<body")
		body = strings.ReplaceAll(body, "</tr>", "\n")
		body = strings.ReplaceAll(body, "</td>", " | ")
		text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
		if regexp.MustCompile(`%\) \| `).MatchString(text) {
			return text
		}
	}
	t.Fatalf("got:\n%.2000s\nwant a table of functions", text)
	return ""
}

func TestSpeedscope_ItsOwnPage(t *testing.T) {
	page := speedscopePage(t, "speedscope", recorded())
	for _, want := range []string{
		`(?m)1 \| node 9/9 \| 4\.00ms \| $`,
		`(?m)^2 \| node worker 9/11 \| 2\.00ms \| $`,
		`(?m)^3 \| helper 20/20 \| 1\.00ms \| $`,
		`(?m)^2\.00ms \(50%\) \| 2\.00ms \(50%\) \| add \| $`,
		`(?m)^3\.00ms \(75%\) \| 1\.00ms \(25%\) \| run \| $`,
		`(?m)^3\.00ms \(75%\) \| 0\.00ns \(<0\.01%\) \| main \| $`,
		`(?m)1\.00ms \(25%\) \| 1\.00ms \(25%\) \| \[unknown\] \| $`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("got:\n%s\nwant %s", page, want)
		}
	}
}

func TestSpeedscope_ItsOwnPageWithHostileNames(t *testing.T) {
	page := speedscopePage(t, "speedscope", hostile())
	for _, want := range []string{`quote " and \ and ' and </script> 0/0`, "semicolon;a;b 2/2", "日本語 ✓ 😀 11/11", "__proto__ 15/15", "(1/16)"} {
		if !strings.Contains(page, want) {
			t.Errorf("got:\n%.2000s\nwant %q", page, want)
		}
	}
}

// speedscope reads folded stacks, too: it is another judge of them.
func TestFolded_PageOfSpeedscope(t *testing.T) {
	page := speedscopePage(t, "folded", recorded())
	for _, want := range []string{
		`2,000,000 \(29%\) \| 2,000,000 \(29%\) \| add_\[i\] \| `,
		`3,000,000 \(43%\) \| 1,000,000 \(14%\) \| run_\[j\] \| `,
		`2,000,000 \(29%\) \| 0 \(<?0\.?0?1?%\) \| node_worker \| `,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("got:\n%s\nwant %s", page, want)
		}
	}
}
