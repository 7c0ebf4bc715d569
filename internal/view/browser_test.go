package view_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/view"
)

// A browser is a headless Chromium that ChromeDriver controls, with real clicks and keys.
// The protocol is https://www.w3.org/TR/webdriver2/.
type browser struct {
	t       *testing.T
	session string // URL
}

// shared is the browser of all tests: starting one takes seconds. It ends with them, see TestMain.
var shared struct {
	process *exec.Cmd // chromedriver
	session string
	profile string // directory
}

func TestMain(m *testing.M) {
	testrec.PrivateTmp()
	code := m.Run()
	if shared.session != "" {
		if request, err := http.NewRequest("DELETE", shared.session, nil); err == nil {
			http.DefaultClient.Do(request)
		}
	}
	if shared.process != nil {
		shared.process.Process.Kill()
		shared.process.Wait()
		os.RemoveAll(shared.profile)
	}
	os.Exit(code)
}

// startDriver starts ChromeDriver, and returns the URL for sessions.
func startDriver(t *testing.T) string {
	t.Helper()
	process := exec.Command(testrec.Tool(t, "chromedriver"), "--port=0")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	shared.process = process
	started := regexp.MustCompile(`successfully on port (\d+)`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out)
			return "http://127.0.0.1:" + m[1] + "/session"
		}
	}
	t.Fatalf("got no port from chromedriver: %v", lines.Err())
	return ""
}

// start returns the browser, for a test.
func start(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		testrec.Skip(t, "browsers are slow")
	}
	if shared.session != "" {
		return &browser{t: t, session: shared.session}
	}
	program := testrec.Tool(t, "chromium", "chromium-browser", "google-chrome")
	b := &browser{t: t, session: startDriver(t)}
	var err error
	if shared.profile, err = os.MkdirTemp("", "view-browser-"); err != nil {
		t.Fatal(err)
	}
	var made struct {
		SessionID string `json:"sessionId"`
	}
	b.call("POST", "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:loggingPrefs": map[string]string{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{
			"binary": program,
			"args": []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + shared.profile},
		},
	}}}, &made)
	b.session += "/" + made.SessionID
	shared.session = b.session
	return b
}

// open writes the page of p and opens it from its file, in a window of the given size.
func open(t *testing.T, p *profile.Profile, o view.Options, width, height int) *browser {
	t.Helper()
	b := start(t)
	var page bytes.Buffer
	if err := view.Write(&page, p, o); err != nil {
		t.Fatal(err)
	}
	b.size(width, height)
	b.media("prefers-color-scheme", "light")
	b.show(page.String())
	t.Cleanup(func() {
		if t.Failed() {
			b.picture(filepath.Join(os.TempDir(), "view-"+t.Name()+".png"))
		}
	})
	return b
}

// show opens a page from a file.
func (b *browser) show(page string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.call("POST", "/url", map[string]string{"url": "about:blank"}, nil)
	b.problems() // of pages before
	b.call("POST", "/url", map[string]string{"url": "file://" + path}, nil)
}

// size sets the size of the page's part of the window.
func (b *browser) size(width, height int) {
	b.t.Helper()
	b.devtools("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
}

// devtools sends a command of Chromium's own protocol.
func (b *browser) devtools(command string, parameters any) (answer map[string]any) {
	b.t.Helper()
	b.call("POST", "/goog/cdp/execute", map[string]any{"cmd": command, "params": parameters}, &answer)
	return answer
}

// call sends a command of the protocol, and decodes its value into answer unless that is nil.
func (b *browser) call(method, path string, body, answer any) {
	b.t.Helper()
	var text io.Reader
	if method == "POST" {
		if body == nil {
			body = map[string]any{}
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		text = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, b.session+path, text)
	if err != nil {
		b.t.Fatal(err)
	}
	client := http.Client{Timeout: 2 * time.Minute}
	response, err := client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("got from %s %s: %s; want success", method, path, got)
	}
	if answer == nil {
		return
	}
	value := struct{ Value any }{answer}
	if err := json.Unmarshal(got, &value); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what a function body returns in the page.
func eval[T any](b *browser, body string, args ...any) (value T) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	b.call("POST", "/execute/sync", map[string]any{"script": body, "args": args}, &value)
	return value
}

// text returns the text of the first element of a CSS selector, as a reader sees it.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return eval[string](b, "const e = document.querySelector(arguments[0]); return e ? e.innerText.replace(/\\s+/g, ' ').trim() : ''", selector)
}

// element returns the protocol's path of an element.
func (b *browser) element(selector string) string {
	b.t.Helper()
	var found map[string]string
	b.call("POST", "/element", map[string]string{"using": "css selector", "value": selector}, &found)
	for _, id := range found {
		return "/element/" + id
	}
	b.t.Fatalf("got no element %s", selector)
	return ""
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.call("POST", b.element(selector)+"/click", nil, nil)
}

// clickText clicks on the first element of the selector with the text.
func (b *browser) clickText(selector, text string) {
	b.t.Helper()
	if !eval[bool](b, `for (const e of document.querySelectorAll("[data-test]")) e.removeAttribute("data-test");
		const e = [...document.querySelectorAll(arguments[0])].find((e) => e.innerText.includes(arguments[1]));
		if (e) e.setAttribute("data-test", ""); return Boolean(e)`, selector, text) {
		b.t.Fatalf("got no %s with %q", selector, text)
	}
	b.click("[data-test]")
}

func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.call("POST", b.element(selector)+"/value", map[string]string{"text": text}, nil)
}

// Keys of the protocol.
const (
	keyEnter  = "\ue007"
	keyEscape = "\ue00c"
	keyLeft   = "\ue012"
	keyUp     = "\ue013"
	keyRight  = "\ue014"
	keyDown   = "\ue015"
)

// press presses keys, one after the other, wherever the focus is.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	var actions []map[string]any
	for _, key := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key})
	}
	b.call("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": actions}}}, nil)
}

// pointAt moves the mouse over the graph: across as a part of its width, and down by rows.
func (b *browser) pointAt(across float64, row int, isClick bool) {
	b.t.Helper()
	x := eval[float64](b, "const r = document.querySelector('#canvas').getBoundingClientRect(); return r.left + r.width * arguments[0]", across)
	y := eval[float64](b, "return document.querySelector('#canvas').getBoundingClientRect().top") + (float64(row)+0.5)*20
	actions := []map[string]any{{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}}
	if isClick {
		actions = append(actions, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0})
	}
	b.call("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "pointer", "id": "mouse", "actions": actions}}}, nil)
}

// media sets features of the screen, such as a dark one.
func (b *browser) media(name, value string) {
	b.t.Helper()
	b.devtools("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": name, "value": value}}})
}

// problems returns what the browser logged: errors of scripts, violations of the policy.
func (b *browser) problems() (list []string) {
	b.t.Helper()
	var entries []struct{ Level, Message string }
	b.call("POST", "/se/log", map[string]string{"type": "browser"}, &entries)
	for _, entry := range entries {
		list = append(list, entry.Level+": "+entry.Message)
	}
	return list
}

// picture writes a screenshot.
func (b *browser) picture(path string) {
	b.t.Helper()
	var encoded string
	b.call("GET", "/screenshot", nil, &encoded)
	image, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, image, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("a screenshot is in %s", path)
}
