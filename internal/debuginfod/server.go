package debuginfod

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/jitinject/jitinject/internal/quote"
)

// A server is one of those that are asked. A server that cannot be reached, or that fails for
// several objects in a row, is not asked any more: each object would wait for it again.
type server struct {
	base string // URL without a slash at its end; it may have a password
	name string // for messages

	mu       sync.Mutex
	now      ServerSummary
	inARow   int // number of objects that it failed for since it last answered
	whyStops error
}

// maxInARow is for how many objects in a row a server may fail.
const maxInARow = 3

// A ServerSummary says what came of a server.
type ServerSummary struct {
	URL     string `json:"url"`     // without a password
	Files   int    `json:"files"`   // number of files that it sent
	Bytes   int64  `json:"bytes"`   // their size
	Absent  int    `json:"absent"`  // number of files that it does not have
	Failed  int    `json:"failed"`  // number of files for which it failed
	Stopped string `json:"stopped"` // why it is no longer asked, or ""
}

// works notes that the server has answered.
func (s *server) works() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inARow = 0
}

// sent notes that the server sent a file of n bytes.
func (s *server) sent(n int64) {
	s.works()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Files++
	s.now.Bytes += n
}

// absent notes that the server does not have a file.
func (s *server) absent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Absent++
}

// failed notes that the server failed for an object.
func (s *server) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Failed++
	s.inARow++
	if s.whyStops == nil && (s.inARow >= maxInARow || isUnreachable(err) || isUntrusted(err)) {
		s.whyStops = err
		s.now.Stopped = quote.Printable(err.Error())
	}
}

// stopped returns an error if the server is not asked any more.
func (s *server) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whyStops == nil {
		return nil
	}
	return fmt.Errorf("no longer asked: %w", s.whyStops)
}

func (s *server) summary() ServerSummary {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	now.URL = s.name
	return now
}

// isUnreachable reports whether no connection could be made.
func isUnreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, new(*net.DNSError)) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// isUntrusted reports whether the server could not prove its name.
func isUntrusted(err error) bool { return errors.As(err, new(*tls.CertificateVerificationError)) }
