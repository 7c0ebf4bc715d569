package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
	"github.com/jitinject/jitinject/internal/view"
)

// want waits until an element has the text: searches wait for the end of typing.
func (b *browser) want(selector, text string) {
	b.t.Helper()
	got := b.text(selector)
	for deadline := time.Now().Add(10 * time.Second); got != text && time.Now().Before(deadline); got = b.text(selector) {
		time.Sleep(20 * time.Millisecond)
	}
	if got != text {
		b.t.Errorf("%s: got %q, want %q", selector, got, text)
	}
}

// wantSilence fails if the browser logged errors.
func (b *browser) wantSilence() {
	b.t.Helper()
	if got := b.problems(); len(got) > 0 {
		b.t.Errorf("got %q from the browser, want no problems", got)
	}
}

// rows returns the rows of the table of functions.
func (b *browser) rows() []string {
	b.t.Helper()
	return eval[[]string](b, `return [...document.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((c) => c.innerText.replace(/\s+/g, " ").trim()).join(" | "))`)
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPageGraph_ClickZooms(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.want("#title", "node")
	b.want("#summary", "100 samples of cycles:u")
	b.want("#path", "all")
	b.pointAt(0.3, 3, false)
	b.want("#tip", "handleRequest optimized 65.0% · 65 samples server.js:10")
	b.pointAt(0.3, 3, true)
	b.want("#path", "all node::Start(int, char**) v8::internal::Execution::Call handleRequest Reset zoom")
	b.want("#detail h2", "handleRequest")
	// Zoomed, parseBody begins the row, and is as wide as its share of handleRequest.
	b.pointAt(30.0/65-0.02, 4, false)
	b.want("#tip", "parseBody optimized, inlined 30.0% · 30 samples server.js:30")
	b.pointAt(30.0/65+0.02, 4, false)
	b.want("#tip", "parseBody optimized 20.0% · 20 samples server.js:30")
	b.clickText("#path button", "node::Start")
	b.want("#path", "all node::Start(int, char**) Reset zoom")
	b.click("#reset")
	b.want("#path", "all")
	b.pointAt(0.9, 1, false)
	b.want("#tip", "worker_main native 20.0% · 20 samples node")
	b.pointAt(0.9, 8, false)
	if !eval[bool](b, "return document.querySelector('#tip').hidden") {
		t.Error("got a tip where no frame is, want none")
	}
	b.wantSilence()
}

func TestPageGraph_Keyboard(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.press("/")
	if got := eval[string](b, "return document.activeElement.id"); got != "query" {
		t.Fatalf("got focus on %q after a slash, want the search", got)
	}
	b.press("h", "a", "s", "h", keyEnter)
	b.want("#matches", "30.0% in 1 function")
	b.press(keyDown)
	b.want("#status", "node::Start(int, char**) native 80.0% · 80 samples node")
	b.press(keyRight)
	b.want("#status", "worker_main native 20.0% · 20 samples node")
	b.press(keyRight, keyDown)
	b.want("#status", "compress baseline 20.0% · 20 samples server.js:60")
	b.press(keyEnter)
	b.want("#path", "all worker_main compress Reset zoom")
	b.want("#detail h2", "compress")
	b.press(keyEscape)
	b.want("#path", "all")
	b.want("#status", "compress baseline 20.0% · 20 samples server.js:60")
	b.press(keyUp, keyLeft)
	b.want("#status", "node::Start(int, char**) native 80.0% · 80 samples node")
	b.press(keyEscape)
	b.want("#matches", "")
	if !eval[bool](b, "return document.querySelector('#detail').hidden && document.querySelector('#query').value === ''") {
		t.Error("got a selection or a search after Escape, want none")
	}
	b.wantSilence()
}

func TestPageSearch_SharesAndPatterns(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.write("#query", "PARSE")
	b.want("#matches", "50.0% in 1 function")
	wantRows(t, b.rows(), "20.0% | 50.0% | parseBody optimized · server.js:30")
	// A sample counts once, however many of its frames match.
	b.press(keyEscape)
	b.write("#query", "/^(parse|hash|handle).*/")
	b.want("#matches", "75.0% in 4 functions")
	b.press(keyEscape)
	b.write("#query", "/(/")
	b.want("#matches", "no match")
	b.want("#more", "No function matches.")
	b.press(keyEscape)
	b.want("#matches", "")
	b.write("#query", "server.js")
	b.want("#matches", "95.0% in 6 functions")
	b.wantSilence()
}

// countPixels returns how many pixels of a row of the graph have a colour of the style sheet.
func (b *browser) countPixels(row int, name string) int {
	b.t.Helper()
	return eval[int](b, `const canvas = document.querySelector("canvas"), ratio = devicePixelRatio;
		const colour = getComputedStyle(document.documentElement).getPropertyValue("--" + arguments[1]).trim();
		const want = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
		const row = canvas.getContext("2d").getImageData(0, Math.round((arguments[0] * 20 + 18) * ratio), canvas.width, 1).data;
		let n = 0;
		for (let i = 0; i < row.length; i += 4) if (want.every((v, c) => Math.abs(row[i + c] - v) < 3)) n++;
		return n`, row, name)
}

func TestPageSearch_TinyMatchesAreVisible(t *testing.T) {
	b := newBuilder()
	b.sample(50_000, 0, 0, native("main"), native("wide"))
	b.sample(1, 0, 0, native("main"), native("narrow"), native("needle"))
	page := open(t, &b.Profile, view.Options{}, 1400, 900)
	if got := page.countPixels(3, "accent"); got != 0 {
		t.Errorf("got %d marked pixels before the search, want none", got)
	}
	page.write("#query", "needle")
	page.want("#matches", "<0.01% in 1 function")
	got := 0
	for start := time.Now(); got < 1 && time.Since(start) < 10*time.Second; { // drawn with the next frame
		got = page.countPixels(3, "accent")
	}
	if got < 1 {
		t.Errorf("got %d marked pixels for a frame of 1/50,000, want some", got)
	}
	if got := page.countPixels(2, "accent"); got != 0 {
		t.Errorf("got %d marked pixels in the caller's row, want none", got)
	}
}

func TestPageTable_SortAndSelect(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	if got, want := b.rows()[0], "30.0% | 30.0% | hash optimized · server.js:40"; got != want {
		t.Errorf("got first row %q, want %q", got, want)
	}
	b.click("th.total button")
	if got, want := b.rows()[0], "0% | 80.0% | node::Start(int, char**) native · node"; got != want {
		t.Errorf("got first row %q, want %q", got, want)
	}
	if got := eval[string](b, "return document.querySelector('th.total').getAttribute('aria-sort')"); got != "descending" {
		t.Errorf("got aria-sort %q, want descending", got)
	}
	b.press(keyEnter) // the header keeps the focus
	if got, want := b.rows()[0], "5.0% | 5.0% | [libz.so] unknown · libz.so"; got != want {
		t.Errorf("got first row %q, want %q", got, want)
	}
	b.click("th.name button")
	if got, want := b.rows()[0], "5.0% | 5.0% | [libz.so] unknown · libz.so"; got != want {
		t.Errorf("got first row %q, want %q", got, want)
	}
	b.clickText("#table .function", "parseBody")
	b.want("#detail h2", "parseBody")
	b.want("#detail .about", "optimized · self 20.0%, total 50.0% · /app/server.js:30")
	b.want("#detail .calls", "Callers 50.0% handleRequest inlined Callees 30.0% hash inlined")
	b.want("#status", "parseBody optimized, inlined 30.0% · 30 samples server.js:30") // the widest
	if got := b.countPixels(4, "accent"); got < 100 {
		t.Errorf("got %d marked pixels of the selected function, want them all", got)
	}
	b.clickText("#detail .function", "hash")
	b.want("#detail h2", "hash")
	b.want("#table tr[aria-current] .function", "hash")
	b.click("#detail .close")
	if !eval[bool](b, "return document.querySelector('#detail').hidden") {
		t.Error("got a function after it was closed")
	}
	b.wantSilence()
}

// A function that calls itself counts once.
func TestPageTable_Recursion(t *testing.T) {
	b := newBuilder()
	f, g := native("f"), native("g")
	b.sample(3, 0, 0, native("main"), f, g, f, f)
	b.sample(1, 0, 0, native("main"), f)
	page := open(t, &b.Profile, view.Options{}, 1400, 900)
	wantRows(t, page.rows(), "100% | 100% | f native · node", "0% | 100% | main native · node", "0% | 75.0% | g native · node")
	page.clickText("#table .function", "f")
	page.want("#detail .calls", "Callers 100% main 75.0% g 75.0% f Callees 75.0% g 75.0% f")
}

func TestPageTable_ManyRows(t *testing.T) {
	page := open(t, large(3000), view.Options{}, 1400, 900)
	if got := len(page.rows()); got != 200 {
		t.Errorf("got %d rows, want the first 200", got)
	}
	page.click("#more button")
	if got := len(page.rows()); got < 900 {
		t.Errorf("got %d rows, want 1,000 or all", got)
	}
}

func TestPageSource_LinesAndInlinedCalls(t *testing.T) {
	b := open(t, small(), view.Options{Sources: func(path string) ([]byte, error) {
		if path != "/app/server.js" {
			return nil, fmt.Errorf("got path %q", path)
		}
		return serverSource(), nil
	}}, 1400, 900)
	b.clickText("#table .function", "handleRequest")
	b.want("#detail .source .hot", "65.0% 14 const line14 = call(14); // line 14↳ parseBody 30.0%")
	b.want("#detail .source tbody tr:first-child", "10 const line10 = call(10); // line 10")
	b.want("#detail .source tbody tr:last-child", "17 const line17 = call(17); // line 17")
	b.click("#detail .inlined")
	b.want("#detail h2", "parseBody")
	b.want("#detail .source .hot", "20.0% 50.0% 33 const line33 = call(33); // line 33↳ hash 30.0%")
	b.clickText("#table .function", "ksys_write")
	b.want("#detail .message", "The recording has no source lines of this function.")
	b.clickText("#table .function", "adapter")
	b.want("#detail .message", "No sample has a line of this file.")
	b.wantSilence()
}

func TestPageSource_NoText(t *testing.T) {
	b := open(t, small(), view.Options{Sources: func(string) ([]byte, error) { return nil, fmt.Errorf("file does not exist") }}, 1400, 900)
	b.clickText("#table .function", "compress")
	b.want("#detail .message", "The page has no text of this file: file does not exist.")
	b.want("#detail .source tbody", "20.0% 61")
	b.click("#about")
	b.want("#notes li", "The source of 1 file was not available.")
}

func TestPageGraph_Reversed(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.click("#reversed")
	if got := eval[string](b, "return document.querySelector('#reversed').getAttribute('aria-pressed')"); got != "true" {
		t.Errorf("got aria-pressed %q, want true", got)
	}
	for row, want := range []string{"all 100% · 100 samples", "hash optimized, inlined 30.0% · 30 samples server.js:40",
		"parseBody optimized, inlined 30.0% · 30 samples server.js:30", "handleRequest optimized 30.0% · 30 samples server.js:10"} {
		b.pointAt(0.1, row, false)
		b.want("#tip", want)
	}
	b.write("#query", "handleRequest")
	b.want("#matches", "75.0% in 2 functions")
	b.click("#reversed")
	b.pointAt(0.1, 1, false)
	b.want("#tip", "node::Start(int, char**) native 80.0% · 80 samples node")
	b.wantSilence()
}

func TestPageThreads_Chosen(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.clickText("#threads option", "worker 101 (20)")
	b.want("#summary", "20 samples of cycles:u")
	wantRows(t, b.rows(), "100% | 100% | adapter stub · server.js", "0% | 100% | worker_main native · node", "0% | 100% | compress baseline · server.js:60")
	b.want("#legend", "native 0% baseline 0% stub 100% ↳ inlined")
	b.clickText("#events option", "page-faults (20)")
	b.want("#summary", "0 samples of page-faults")
	b.want("#empty", "The chosen threads have no samples of this event.")
	b.want("#more", "No function has samples.")
	b.clickText("#threads option", "all threads")
	b.want("#summary", "20 samples of page-faults")
	b.clickText("#measure option", "by event counts")
	b.want("#summary", "20,000 page-faults")
	b.wantSilence()
}

func TestPageThreads_Process(t *testing.T) {
	b := open(t, large(2000), view.Options{}, 1400, 900)
	all := b.text("#summary")
	b.clickText("#threads option", "process-1 101: all")
	if got := b.text("#summary"); got == all || got == "0 samples of cycles:u" {
		t.Errorf("got %s, want those of one process", got)
	}
}

func TestPageMerge_TiersOfAFunction(t *testing.T) {
	b := open(t, small(), view.Options{}, 1400, 900)
	b.click("#merged")
	b.clickText("#table .function", "handleRequest")
	b.want("#detail .about", "optimized · self 0%, total 75.0% · /app/server.js:10")
	b.pointAt(0.7, 3, false)
	b.want("#tip", "handleRequest optimized 75.0% · 75 samples server.js:10")
	b.wantSilence()
}

func TestPageCompare_WithBase(t *testing.T) {
	b := open(t, small(), view.Options{Base: before()}, 1400, 900)
	b.want("#summary", "100 samples of cycles:u, compared with 100")
	wantRows(t, b.rows()[:3], "0% | −30.0 | 75.0% | −15.0 | handleRequest", "30.0% | −30.0 | 30.0% | −30.0 | hash", "20.0% | +20.0 | 50.0% | +50.0 | parseBody")
	// Widths are the mean of both: 80 % and 100 % in the first row.
	b.pointAt(0.88, 1, false)
	b.want("#tip", "node::Start(int, char**) native 80.0% · 80 samples before 100%, −20.0 points node")
	b.pointAt(0.92, 1, false)
	b.want("#tip", "worker_main native 20.0% · 20 samples before 0%, +20.0 points node")
	b.clickText("#table .function", "hash")
	b.want("#detail .about", "optimized · self 30.0%, total 30.0% · before: self 60.0%, total 60.0% · /app/server.js:40")
	b.want("#detail .calls", "Callers 0% −60.0 handleRequest 30.0% +30.0 parseBody inlined Callees none")
	b.click("#compare")
	b.want("#summary", "100 samples of cycles:u")
	if got, want := b.rows()[0], "30.0% | 30.0% | hash optimized · server.js:40"; got != want {
		t.Errorf("got first row %q, want %q", got, want)
	}
	b.click("#compare")
	// The other run has no such thread.
	b.clickText("#threads option", "worker 101")
	b.want("#summary", "20 samples of cycles:u, compared with 0")
	b.wantSilence()
}

// Shares are compared, not samples.
func TestPageCompare_LongerRun(t *testing.T) {
	run := func(n int, by tier.Tier) *profile.Profile {
		b := newBuilder()
		b.sample(3*n, 0, 0, native("main"), jitted("f", by, 1, 1))
		b.sample(n, 0, 0, native("main"), jitted("g", by, 9, 9))
		return &b.Profile
	}
	b := open(t, run(100, tier.Optimized), view.Options{Base: run(7, tier.Baseline)}, 1400, 900)
	wantRows(t, b.rows(), "0% | ±0 | 100% | ±0 | main", "75.0% | ±0 | 75.0% | ±0 | f", "25.0% | ±0 | 25.0% | ±0 | g")
}
