package view_test

import (
	"bytes"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/view"
)

// Nothing in a name is executed, wherever the page shows it.
func TestPage_HostileNames(t *testing.T) {
	b := open(t, hostile(), view.Options{Title: hostileNames()[0], Base: hostile(), Sources: hostileSource}, 1400, 900)
	hook := b.devtools("Page.addScriptToEvaluateOnNewDocument", map[string]any{
		"source": "window.executed = []; for (const f of ['alert', 'confirm', 'prompt']) window[f] = (x) => executed.push(x)",
	})
	t.Cleanup(func() { b.devtools("Page.removeScriptToEvaluateOnNewDocument", hook) })
	b.call("POST", "/refresh", nil, nil)
	b.want("#title", strings.TrimSpace(hostileNames()[0]))
	wantHarmless := func(after string) {
		t.Helper()
		if got := eval[[]string](b, "return executed.map(String)"); len(got) > 0 {
			t.Errorf("%s: got executed %q, want nothing", after, got)
		}
		if got := eval[string](b, "return [...document.querySelectorAll('script, img, svg, iframe, b, link, object')].map((e) => e.tagName + '#' + e.id).join(' ')"); got != "SCRIPT#data SCRIPT#" {
			t.Errorf("%s: got elements %s, want the page's two scripts", after, got)
		}
	}
	wantHarmless("loaded")
	b.click("#compare")
	shown := eval[string](b, "return [...document.querySelectorAll('#table .function')].map((e) => e.innerText).join('\\n')")
	for _, name := range hostileNames()[:4] {
		if !strings.Contains(shown, name) {
			t.Errorf("got no function %q in the table, want it as it is", name)
		}
	}
	for _, name := range hostileNames()[:3] {
		b.clickText("#table .function", name)
		wantHarmless("selected " + name)
		b.pointAt(0.5, 2, false)
		b.write("#query", name[:4])
		b.press(keyEscape)
	}
	for range 20 {
		b.press(keyDown)
	}
	b.press(keyEnter)
	for _, id := range []string{"#reversed", "#compare", "#about"} {
		b.click(id)
		wantHarmless("clicked on " + id)
	}
	b.wantSilence()
}

// The policy forbids scripts, images and connections, even if somebody finds a way to insert them.
func TestPagePolicy_ForbidsAllElse(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	b := open(t, small(), view.Options{}, 1400, 900)
	var page bytes.Buffer
	if err := view.Write(&page, small(), view.Options{}); err != nil {
		t.Fatal(err)
	}
	attack := `<script>window.executed = "inline"</script><script src="URL/a.js"></script><img src="URL/a.png" onerror="window.executed = 'handler'">
		<link rel="stylesheet" href="URL/a.css"><iframe src="URL/a.html"></iframe><p id="styled" style="color: rgb(1, 2, 3)">styled</p><form action="URL/form"><button id="send">send</button></form>`
	attacked := strings.Replace(page.String(), "</main>", strings.ReplaceAll(attack, "URL", server.URL)+"</main>", 1)
	b.show(attacked)
	b.want("#summary", "100 samples of cycles:u") // the page's own script runs
	b.want("#send", "send")
	eval[any](b, "document.querySelector('#send').click(); return null")
	if got := eval[string](b, "return String(window.executed)"); got != "undefined" {
		t.Errorf("got an executed script: %s", got)
	}
	if got := eval[string](b, "return getComputedStyle(document.querySelector('#styled')).color"); got == "rgb(1, 2, 3)" {
		t.Error("got a style that the policy forbids")
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("got %d requests, want none", n)
	}
	if got := b.problems(); len(got) < 6 {
		t.Errorf("got %d violations, want one for each attack: %q", len(got), got)
	}
	// The server works: another page would reach it.
	host := strings.TrimPrefix(server.URL, "http://")
	if c, err := net.Dial("tcp", host); err != nil {
		t.Errorf("got %v, want a connection", err)
	} else {
		c.Close()
	}
}

func TestPage_NoSamples(t *testing.T) {
	b := open(t, &profile.Profile{}, view.Options{}, 1400, 900)
	b.want("#empty", "The recording has no samples.")
	b.want("#more", "No function has samples.")
	b.pointAt(0.5, 0, true)
	b.press(keyDown, keyRight, keyEnter, keyEscape)
	b.click("#reversed")
	b.click("#about")
	b.want("#facts", "Samples none")
	b.wantSilence()
}

// A canvas has at most the window's height: browsers limit it. Deep stacks scroll.
func TestPageCanvas_DeepStacks(t *testing.T) {
	b := newBuilder()
	var calls []call
	for range 5000 {
		calls = append(calls, native("recursion"))
	}
	b.sample(10, 0, 0, append(calls, native("deepest"))...)
	for _, size := range [][2]int{{1400, 900}, {800, 600}, {420, 800}} {
		page := open(t, &b.Profile, view.Options{}, size[0], size[1])
		if got := eval[float64](page, "return document.querySelector('canvas').height / devicePixelRatio - innerHeight"); got > 0 {
			t.Errorf("window %d: got a canvas that is %g pixels higher than the window", size, got)
		}
		if got := eval[bool](page, "return document.documentElement.scrollWidth > innerWidth"); got {
			t.Errorf("window %d: got a page that is wider than the window", size)
		}
		page.write("#query", "deepest")
		page.press(keyEnter)
		page.clickText("#table .function", "deepest")
		page.want("#status", "deepest native 100% · 10 samples node")
		if top := eval[float64](page, "return document.querySelector('#graph').scrollTop"); top < 90_000 {
			t.Errorf("window %d: got the graph scrolled to %g, want the row of the deepest frame", size, top)
		}
		page.wantSilence()
	}
}

func TestPageGraph_DarkScreen(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	light := b.countPixels(3, "kind-optimized")
	b.media("prefers-color-scheme", "dark")
	var dark int
	for range 100 { // it is drawn with the next picture
		if dark = b.countPixels(3, "kind-optimized"); dark > 0 {
			break
		}
	}
	if light < 300 || dark < 300 {
		t.Errorf("got %d pixels of the light colour and %d of the dark one, want a frame of each", light, dark)
	}
}

// Callers of many narrow frames are not empty below: these are drawn as one.
func TestPageGraph_NarrowFramesAsOne(t *testing.T) {
	b := newBuilder()
	for i := range 20_000 {
		b.sample(1, 0, 0, native("main"), native("f"+strconv.Itoa(i)))
	}
	b.sample(20_000, 0, 0, native("main"))
	page := open(t, &b.Profile, view.Options{}, 1400, 900)
	width := eval[int](page, "return document.querySelector('canvas').width")
	empty := page.countPixels(2, "background")
	if empty < width*45/100 || empty > width*55/100 {
		t.Errorf("got %d of %d pixels empty below a function that half of the samples are in, want half", empty, width)
	}
}

// On paper there are no controls, all is light, and the graph is as high as its stacks.
func TestPage_OnPaper(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	eval[any](b, "dispatchEvent(new Event('beforeprint')); return null")
	if got := eval[int](b, "return document.querySelector('#canvas').height"); got != 6*20 {
		t.Errorf("got a canvas of %d pixels for 6 rows, want 120", got)
	}
	b.devtools("Emulation.setEmulatedMedia", map[string]any{"media": "print"})
	t.Cleanup(func() { b.devtools("Emulation.setEmulatedMedia", map[string]any{"media": ""}) })
	for selector, want := range map[string]bool{"#controls": false, "#recording": true, "#table": true, "#canvas": true} {
		if got := eval[bool](b, "return document.querySelector(arguments[0]).checkVisibility()", selector); got != want {
			t.Errorf("%s: got visible %t, want %t", selector, got, want)
		}
	}
	b.want("#facts dd", "perf record -g -F 4000 node --perf-prof server.js")
	b.devtools("Emulation.setEmulatedMedia", map[string]any{"media": ""})
	eval[any](b, "dispatchEvent(new Event('afterprint')); return null")
	if got := eval[int](b, "return document.querySelector('#canvas').height"); got < 500 {
		t.Errorf("got a canvas of %d pixels after printing, want that of the window", got)
	}
}

// What screen readers get: every control has a name.
func TestPage_AccessibleNames(t *testing.T) {
	b := open(t, small(), view.Options{Base: before()}, 1400, 900)
	b.clickText("#table .function", "parseBody")
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.call("POST", "/goog/cdp/execute", map[string]any{"cmd": "Accessibility.getFullAXTree", "params": map[string]any{}}, &tree)
	roles := make(map[string]int)
	for _, node := range tree.Nodes {
		role, _ := node.Role.Value.(string)
		name, _ := node.Name.Value.(string)
		if node.Ignored {
			continue
		}
		roles[role]++
		switch role {
		case "button", "searchbox", "combobox", "application", "table", "columnheader", "region", "navigation", "complementary":
			if strings.TrimSpace(name) == "" && role != "table" {
				t.Errorf("got a %s without a name", role)
			}
		}
	}
	for _, role := range []string{"button", "searchbox", "combobox", "application", "table", "columnheader", "heading", "status"} {
		if roles[role] == 0 {
			t.Errorf("got no %s in %v", role, roles)
		}
	}
}

// Text is readable on every colour, in both schemes: 4.5 to 1, as WCAG 2 asks.
func TestPageStyle_Contrast(t *testing.T) {
	style, err := os.ReadFile("page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(style), "@media screen and (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("got no dark scheme")
	}
	dark, _, _ = strings.Cut(dark, "\n}")
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		colours := make(map[string]float64)
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(text, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		pairs := [][2]string{{"faint", "background"}, {"faint", "panel"}, {"ink", "selected"}, {"faint", "selected"}, {"accent", "panel"}, {"more-text", "panel"}, {"less-text", "panel"},
			{"more-text", "selected"}, {"less-text", "selected"}, {"background", "focus"}, {"background", "warn"}, {"ink", "hot"}, {"ink", "warm"}, {"faint", "hot"}, {"ink", "button"}}
		for name := range colours {
			if strings.HasPrefix(name, "kind-") || name == "root" || name == "same" || name == "more" || name == "less" {
				pairs = append(pairs, [2]string{"ink", name})
			}
		}
		if len(pairs) < 25 {
			t.Errorf("%s: got %d pairs, want those of all kinds", scheme, len(pairs))
		}
		for _, pair := range pairs {
			a, b := colours[pair[0]], colours[pair[1]]
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < 4.5 {
				t.Errorf("%s: got a contrast of %.2f of %s on %s, want 4.5", scheme, got, pair[0], pair[1])
			}
		}
	}
}

// luminance is that of WCAG 2, from 0 to 1.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, part := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += part * c
	}
	return sum
}
