package debuginfod

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// A fake is a server whose answers the test chooses. It counts requests.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func serve(t *testing.T, answer http.HandlerFunc) *fake {
	f := new(fake)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// client returns a client of servers, which waits little.
func client(t *testing.T, c Config, servers ...string) *Client {
	t.Helper()
	for _, s := range servers {
		u, err := ParseServer(s)
		if err != nil {
			t.Fatal(err)
		}
		c.Servers = append(c.Servers, u)
	}
	client := New(c, "tester/1", 4)
	client.pause = time.Millisecond
	t.Cleanup(client.Close)
	return client
}

var id = []byte{0xab, 0xcd, 0xef}

// get returns the file that a client gets. It refuses those that begin with "wrong".
func get(t *testing.T, c *Client) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := c.File(t.Context(), id, func(r io.Reader) error {
		b.Reset()
		if _, err := io.Copy(&b, r); err != nil {
			return err
		}
		if strings.HasPrefix(b.String(), "wrong") {
			return &Refused{errors.New("it is another file")}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return b.String(), nil
}

func TestFile_Request(t *testing.T) {
	s := serve(t, text("file"))
	c := client(t, Config{MaxSize: 99, Headers: http.Header{"X-Key": {"k"}}}, s.URL+"/below/")
	got, err := get(t, c)
	if err != nil || got != "file" {
		t.Fatalf("got %q, %v; want file", got, err)
	}
	r := s.requests[0]
	if r.Method != "GET" || r.URL.Path != "/below/buildid/abcdef/executable" || r.UserAgent() != "tester/1" || r.Header.Get("X-Key") != "k" || r.Header.Get("X-Debuginfod-Maxsize") != "99" {
		t.Errorf("got %s %s, %v; want GET of /below/buildid/abcdef/executable with the user's header", r.Method, r.URL, r.Header)
	}
	if got, want := c.Servers()[0], (ServerSummary{URL: s.URL + "/below/", Files: 1, Bytes: 4}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// Servers are asked in order, until one has the file.
func TestFile_ServersInOrder(t *testing.T) {
	none, wrong, has, last := serve(t, status(404)), serve(t, text("wrong file")), serve(t, text("file")), serve(t, text("other"))
	got, err := get(t, client(t, Config{Retries: 2}, none.URL, wrong.URL, has.URL, last.URL))
	if err != nil || got != "file" {
		t.Errorf("got %q, %v; want the third server's file", got, err)
	}
	if none.count() != 2 || wrong.count() != 1 || has.count() != 1 || last.count() != 0 {
		t.Errorf("got %d, %d, %d, %d requests; want 2, 1, 1, 0", none.count(), wrong.count(), has.count(), last.count())
	}
}

func TestFile_NotFound(t *testing.T) {
	a, b := serve(t, status(404)), serve(t, status(404))
	if _, err := get(t, client(t, Config{Retries: 2}, a.URL, b.URL)); !errors.Is(err, ErrNotFound) || a.count() != 2 {
		t.Errorf("got %v after %d requests; want ErrNotFound after 2", err, a.count())
	}
	b.Config.Handler = status(403)
	if _, err := get(t, client(t, Config{}, a.URL, b.URL)); err == nil || errors.Is(err, ErrNotFound) || err.Error() != b.URL+": HTTP status 403 Forbidden" {
		t.Errorf("got %v; want that the second server has answered 403", err)
	}
}

// debuginfod takes files without code for debugging information.
func TestFile_WithoutCode(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/abcdef/debuginfo") {
			w.WriteHeader(404)
			return
		}
		io.WriteString(w, "file")
	})
	c := client(t, Config{}, s.URL)
	if got, err := get(t, c); err != nil || got != "file" || s.count() != 2 {
		t.Errorf("got %q, %v after %d requests; want file after 2", got, err, s.count())
	}
	if got := c.Servers()[0]; got.Files != 1 || got.Absent != 0 {
		t.Errorf("got %+v; want 1 file, none absent", got)
	}
}

// Errors that may pass are tried again, and others are not.
func TestFile_Retries(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half")
	}
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	zipped := func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, strings.Repeat("file", 1000))
		z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(b.Bytes()[:b.Len()-6])
	}
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		want     string
		requests int
	}{
		"500":             {status(500), "HTTP status 500 Internal Server Error", 3},
		"503":             {status(503), "HTTP status 503 Service Unavailable", 3},
		"429":             {status(429), "HTTP status 429 Too Many Requests", 3},
		"too large":       {status(406), "larger than DEBUGINFOD_MAXSIZE", 1},
		"unknown":         {status(299), "HTTP status 299", 1},
		"cut":             {cut, "it ended before the file was complete", 3},
		"cut chunks":      {chunked, "it ended before the file was complete", 3},
		"cut gzip":        {zipped, "it ended before the file was complete", 3},
		"no answer":       {hangUp, "it ended before the file was complete", 3},
		"another file":    {text("wrong"), "it is another file", 1},
		"larger than max": {text(strings.Repeat("x", 5000)), "larger than 4096 bytes", 1},
	} {
		s := serve(t, c.answer)
		s.Config.ErrorLog = nil
		_, err := get(t, client(t, Config{Retries: 2, MaxSize: 4096}, s.URL))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), s.URL+": ") {
			t.Errorf("%s: got error %v; want %q", name, err, c.want)
		}
		if got := s.count(); got != c.requests {
			t.Errorf("%s: got %d requests; want %d", name, got, c.requests)
		}
	}
}

// A server that fails once is asked again, and what it sent before is dropped.
func TestFile_AnswersLater(t *testing.T) {
	var s *fake
	s = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if s.count() == 1 {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "half of it")
			return
		}
		io.WriteString(w, "file")
	})
	if got, err := get(t, client(t, Config{Retries: 1}, s.URL)); err != nil || got != "file" {
		t.Errorf("got %q, %v; want file", got, err)
	}
}

// A proxy may compress what it passes on. The limit is about the file.
func TestFile_Gzip(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("got Accept-Encoding %q; want gzip", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(make([]byte, 1<<20))
		z.Close()
	})
	if got, err := get(t, client(t, Config{}, s.URL)); err != nil || len(got) != 1<<20 {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, 1<<20)
	}
	if _, err := get(t, client(t, Config{MaxSize: 1<<20 - 1}, s.URL)); err == nil || !strings.Contains(err.Error(), "the file is larger than 1048575 bytes") {
		t.Errorf("got %v; want that the file is too large", err)
	}
}

// An answer without an end costs as much as the limit allows.
func TestFile_Endless(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	taken := 0
	err := client(t, Config{MaxSize: 1 << 20}, s.URL).File(t.Context(), id, func(r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		taken += int(n)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") || taken > 1<<20 {
		t.Errorf("got %v after %d bytes; want that the file is larger than the limit, after that at most", err, taken)
	}
}

// A server that is too slow is given up.
func TestFile_Slow(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "x")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if _, err := get(t, client(t, Config{Timeout: 50 * time.Millisecond, Retries: 1}, s.URL)); err == nil || !strings.Contains(err.Error(), "it sent less than 100 KiB in 50ms") {
		t.Errorf("got %v; want that it was too slow", err)
	}
	if _, err := get(t, client(t, Config{MaxTime: 50 * time.Millisecond, Retries: 1}, s.URL)); err == nil || !strings.Contains(err.Error(), "the file took longer than 50ms") {
		t.Errorf("got %v; want that it took too long", err)
	}
}

// The user's headers go to the user's servers only. Redirects that never end do.
func TestFile_Redirects(t *testing.T) {
	other := serve(t, text("file"))
	secure := httptest.NewTLSServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	})
	round := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	local := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	headers := http.Header{"X-Key": {"secret"}}
	if got, err := get(t, client(t, Config{Headers: headers}, elsewhere.URL)); err != nil || got != "file" {
		t.Errorf("got %q, %v; want file", got, err)
	}
	if elsewhere.requests[0].Header.Get("X-Key") != "secret" || other.requests[0].Header.Get("X-Key") != "" {
		t.Errorf("got headers %v and %v; want the key in the first only", elsewhere.requests[0].Header, other.requests[0].Header)
	}
	if _, err := get(t, client(t, Config{Retries: 2}, round.URL)); err == nil || !strings.HasSuffix(err.Error(), "it redirects more than 10 times") || round.count() != 10 {
		t.Errorf("got %v after %d requests; want that it redirects more than 10 times", err, round.count())
	}
	if _, err := get(t, client(t, Config{}, local.URL)); err == nil || !strings.Contains(err.Error(), "it redirects from http to file:///etc/passwd") {
		t.Errorf("got %v; want that it redirects to a file", err)
	}
	c := client(t, Config{}, secure.URL)
	c.http.Transport = secure.Client().Transport
	if _, err := get(t, c); err == nil || !strings.Contains(err.Error(), "it redirects from https to "+other.URL) {
		t.Errorf("got %v; want that it redirects from https to http", err)
	}
}

// A server that cannot prove its name is not asked again.
func TestFile_Untrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(text("file"))
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	c := client(t, Config{Retries: 2}, s.URL)
	if _, err := get(t, c); err == nil || !strings.Contains(err.Error(), "certificate") || c.Servers()[0].Stopped == "" {
		t.Errorf("got %v, %+v; want an error about the certificate, and that the server is stopped", err, c.Servers()[0])
	}
}

// A server that cannot be reached, or that fails three times in a row, is not asked any more.
func TestServers_Stopped(t *testing.T) {
	gone := httptest.NewServer(text("file"))
	gone.Close()
	fails := serve(t, status(500))
	has := serve(t, text("file"))
	c := client(t, Config{}, gone.URL, fails.URL, has.URL)
	for range 5 {
		if got, err := get(t, c); err != nil || got != "file" {
			t.Fatalf("got %q, %v; want file", got, err)
		}
	}
	all := c.Servers()
	if all[0].Failed != 1 || !strings.Contains(all[0].Stopped, "connection refused") {
		t.Errorf("got %+v; want 1 failure: connection refused", all[0])
	}
	if all[1].Failed != 3 || all[1].Stopped != "HTTP status 500 Internal Server Error" || fails.count() != 3 {
		t.Errorf("got %+v after %d requests; want 3 failures and requests", all[1], fails.count())
	}
	if all[2].Files != 5 || all[2].Stopped != "" {
		t.Errorf("got %+v; want 5 files", all[2])
	}
}

// An answer in between means that the server works.
func TestServers_FailNowAndThen(t *testing.T) {
	var s *fake
	s = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{404, 500, 500, 404}[s.count()%4])
	})
	c := client(t, Config{}, s.URL)
	for range 9 {
		get(t, c)
	}
	if got := c.Servers()[0]; got.Stopped != "" || got.Failed != 6 || got.Absent != 3 {
		t.Errorf("got %+v; want 6 failures, 3 absent, and not stopped", got)
	}
}

// Errors of the caller end the search, and those of reading do not.
func TestFile_ErrorsOfCaller(t *testing.T) {
	a, b := serve(t, text("file")), serve(t, text("file"))
	full := errors.New("no space")
	c := client(t, Config{Retries: 2}, a.URL, b.URL)
	if err := c.File(t.Context(), id, func(io.Reader) error { return full }); err != full || a.count() != 1 || b.count() != 0 {
		t.Errorf("got %v after %d and %d requests; want the caller's error after 1 and 0", err, a.count(), b.count())
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := c.File(ctx, id, func(r io.Reader) error {
		cancel()
		return iotest.ErrTimeout
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
}

// One client serves many goroutines, and keeps its connections.
func TestFile_AtOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.ParseUint(r.URL.Path[len("/buildid/"):][:4], 16, 16); n%2 == 1 {
			w.WriteHeader(404)
			io.WriteString(w, "not found")
			return
		}
		fmt.Fprint(w, r.URL.Path)
	})
	c := client(t, Config{}, s.URL)
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for k := range 16 {
				n := byte(16*i + k)
				var got []byte
				err := c.File(t.Context(), []byte{n, n}, func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err })
				if want := fmt.Sprintf("/buildid/%02x%02x/executable", n, n); n%2 == 0 && (err != nil || string(got) != want) || n%2 == 1 && !errors.Is(err, ErrNotFound) {
					t.Errorf("for %d: got %q, %v; want %q if it is even, and else ErrNotFound", n, got, err, want)
				}
			}
		}()
	}
	group.Wait()
	if got := c.Servers()[0]; got.Files != 64 || got.Absent != 64 {
		t.Errorf("got %+v; want 64 files and 64 absent", got)
	}
	from := make(map[string]bool)
	for _, r := range s.requests {
		from[r.RemoteAddr] = true
	}
	if len(from) > 4 {
		t.Errorf("got %d connections; want at most 4", len(from))
	}
}

// A password of a URL is in no message.
func TestServers_HidePasswords(t *testing.T) {
	s := serve(t, status(500))
	u, _ := url.Parse(s.URL)
	u.User = url.UserPassword("me", "secret")
	c := client(t, Config{}, u.String())
	_, err := get(t, c)
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(c.Servers()[0].URL, "secret") {
		t.Errorf("got %v, %+v; want an error without the password", err, c.Servers()[0])
	}
	if name, password, _ := s.requests[0].BasicAuth(); name != "me" || password != "secret" {
		t.Errorf("got %q, %q; want the name and the password to be sent", name, password)
	}
}
