package trials

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// PHP's server with workers: they share the memory for code, any of them compiles a function, and all
// run it. Every sample in it has a name, in every process.
func TestRecord_WorkersShareCode(t *testing.T) {
	testrec.CanRecord(t)
	php := testrec.Tool(t, "php")
	perf := testrec.Tool(t, "perf")
	s := newSite(t)
	s.copy("testdata", "hot.php")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	address := free.Addr().String()
	free.Close()
	const workers = 4
	s.env = append(s.env, fmt.Sprintf("PHP_CLI_SERVER_WORKERS=%d", workers))
	p := s.start("normal", false, program, "record", "-F", "999", php, "-S", address, "hot.php")
	get := func() bool {
		r, err := http.Get("http://" + address + "/")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		return err == nil && strings.Contains(string(text), "served")
	}
	p.until("the server answers", get)
	var clients sync.WaitGroup
	for range 2 * workers {
		clients.Go(func() {
			for range 3 {
				if !get() {
					t.Error("the server does not answer any more")
				}
			}
		})
	}
	clients.Wait()
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT)
	p.wait()

	n := s.summary().Samples
	t.Logf("%d samples, %d in jitted code, %d resolved, %d without dump", n.Total, n.InJittedCode, n.Resolved, n.WithoutDump)
	if n.InJittedCode < least || n.Resolved*100 < (n.InJittedCode+n.WithoutDump)*98 {
		t.Errorf("%d of %d samples in jitted code are resolved, %d have no dump; want 98 %%\n%s", n.Resolved, n.InJittedCode, n.WithoutDump, p.stderr.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	samples, err := judge.Script(ctx, perf, filepath.Join(s.dir, "perf.jit.data"))
	s.must(err)
	ran := make(map[int]int) // samples in the hot function by process
	for i := range samples {
		if f := samples[i].Frames; len(f) > 0 && f[0].Jitted() && strings.Contains(f[0].Symbol, "hot") {
			ran[samples[i].PID]++
		}
	}
	if len(ran) <= workers/2 {
		t.Errorf("the hot function has samples of processes %v; want those of most workers", ran)
	}
}
