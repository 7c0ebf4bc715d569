package debuginfod

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Client asks servers for files. Several goroutines may use it at once.
type Client struct {
	config  Config
	agent   string
	http    *http.Client
	servers []*server
	pause   time.Duration // before a server is asked again; it doubles
}

// ErrNotFound says that all servers have answered, and none of them has the file.
var ErrNotFound = errors.New("no server has it")

const (
	dialTimeout  = 10 * time.Second
	firstPause   = 250 * time.Millisecond
	maxPause     = 10 * time.Second
	maxRedirects = 10
	maxHeader    = 64 << 10 // bytes of the headers of an answer
	maxAbsent    = 1 << 10  // bytes of an answer that says that a file is absent; they are not used
)

// New returns a client. agent is the name and version of the program. parallel is how many files are
// asked for at once.
func New(c Config, agent string, parallel int) *Client {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    parallel,
		MaxConnsPerHost:        parallel,
		MaxResponseHeaderBytes: maxHeader,
	}
	client := &Client{config: c, agent: agent, pause: firstPause}
	client.http = &http.Client{Transport: transport, CheckRedirect: client.redirect}
	for _, u := range c.Servers {
		client.servers = append(client.servers, &server{base: strings.TrimRight(u.String(), "/"), name: shown(u)})
	}
	return client
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redirect decides whether a redirect is followed. The user's headers are for the servers that the
// user has named.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) >= maxRedirects:
		return permanent("it redirects more than 10 times")
	case req.URL.Scheme != "http" && req.URL.Scheme != "https", req.URL.Scheme == "http" && last.Scheme == "https":
		return permanent("it redirects from " + last.Scheme + " to " + shown(req.URL) + ", which is not followed")
	}
	if req.URL.Host != via[0].URL.Host {
		for name := range c.config.Headers {
			req.Header.Del(name)
		}
	}
	return nil
}

// kinds are the kinds of files that a server is asked for. debuginfod takes files without code, such as
// objects of functions with unknown code, for debugging information [debuginfod.cxx,
// elf_classify].
var kinds = []string{"executable", "debuginfo"}

// File gets the file of a build id. take reads and checks it. If it returns a [Refused], or if
// reading fails, take is called again with the next answer: it starts anew. Any other error of take
// ends File, which returns it.
//
// Otherwise the error is ctx's, ErrNotFound, or one that says what each server answered.
func (c *Client) File(ctx context.Context, id []byte, take func(file io.Reader) error) error {
	path := "/buildid/" + hex.EncodeToString(id) + "/"
	var failed []string
	for _, s := range c.servers {
		err := errAbsent
		for _, kind := range kinds {
			if err = c.askUntil(ctx, s, path+kind, take); !errors.Is(err, errAbsent) {
				break
			}
		}
		var ours *localError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &ours):
			return ours.err
		case errors.Is(err, errAbsent):
			s.absent()
		default:
			failed = append(failed, s.name+": "+err.Error())
		}
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	return ErrNotFound
}

// askUntil asks a server until it has answered, or has failed for good.
func (c *Client) askUntil(ctx context.Context, s *server, path string, take func(io.Reader) error) error {
	for try, pause := 0, c.pause; ; try, pause = try+1, min(2*pause, maxPause) {
		if err := s.stopped(); err != nil {
			return err
		}
		n, err := c.ask(ctx, s, path, take)
		var ours *localError
		switch {
		case err == nil:
			s.sent(n)
			return nil
		case errors.Is(err, errAbsent):
			s.works()
			return err
		case ctx.Err() != nil, errors.As(err, &ours):
			return err
		case try >= c.config.Retries || !mayPass(err):
			s.failed(err)
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// ask asks a server once. n is the size of the file in bytes.
func (c *Client) ask(ctx context.Context, s *server, path string, take func(io.Reader) error) (n int64, err error) {
	ctx, a, end := c.newAnswer(ctx)
	defer end()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return 0, permanent(err.Error())
	}
	for name, values := range c.config.Headers {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", c.agent)
	if c.config.MaxSize > 0 {
		req.Header.Set("X-DEBUGINFOD-MAXSIZE", strconv.FormatInt(c.config.MaxSize, 10))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, why(ctx, err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		if res.ContentLength >= 0 && res.ContentLength <= maxAbsent {
			io.CopyN(io.Discard, res.Body, maxAbsent) // so that the connection can be used again
		}
		return 0, errAbsent
	default:
		return 0, statusError(res.StatusCode)
	}
	if a.max > 0 && res.ContentLength > a.max {
		return 0, tooLarge(a.max)
	}
	a.body = res.Body
	err = take(a)
	switch {
	case a.err != nil: // independent of take
		return 0, why(ctx, a.err)
	case err == nil:
		return a.size, nil
	case errors.As(err, new(*Refused)):
		return 0, err
	}
	return 0, &localError{err}
}

// Servers says what came of each server so far, in their order.
func (c *Client) Servers() (all []ServerSummary) {
	for _, s := range c.servers {
		all = append(all, s.summary())
	}
	return all
}

// A Refused is an error about the contents of a file: the server sent another file.
type Refused struct{ Err error }

// Error returns the text of Err.
func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap returns Err.
func (r *Refused) Unwrap() error { return r.Err }

// A localError is one of take, about neither the file nor the server.
type localError struct{ err error }

func (l *localError) Error() string { return l.err.Error() }

// errAbsent says that a server does not have a file.
var errAbsent = errors.New("it does not have the file")

// A permanent error is the same the next time.
type permanent string

func (p permanent) Error() string { return string(p) }

// A statusError is an answer that is neither the file nor 404.
type statusError int

func (s statusError) Error() string {
	if s == http.StatusNotAcceptable { // debuginfod's answer to X-DEBUGINFOD-MAXSIZE
		return "the file is larger than DEBUGINFOD_MAXSIZE allows"
	}
	return strings.TrimSpace(fmt.Sprintf("HTTP status %d %s", int(s), http.StatusText(int(s))))
}

// mayPass reports whether an error may be gone the next time.
func mayPass(err error) bool {
	var status statusError
	if errors.As(err, &status) {
		return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	}
	return !errors.As(err, new(permanent)) && !errors.As(err, new(*Refused)) && !isUntrusted(err)
}
