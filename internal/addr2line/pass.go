package addr2line

import "golang.org/x/sys/unix"

// chunk is how many bytes of perf are read at once. Each "," of two bytes becomes 17, so all of a
// chunk fits into a pipe that poll(2) reports as writable (PIPE_BUF, 4,096 bytes).
const chunk = 256

// pass passes on requests and answers until addr2line has ended its output, and perf its own.
//
// It never waits to write a request: addr2line may itself wait until its answers are read. If
// addr2line ends first, perf's requests are read and dropped: without a reader, SIGPIPE would end
// perf 6.1.
func (p *process) pass(x *exchange) {
	perf := 0
	var request, answer, pending []byte
	buffer := make([]byte, 4096)
	for perf >= 0 || p.out >= 0 {
		fds := []unix.PollFd{{Fd: int32(perf), Events: unix.POLLIN}, {Fd: int32(p.out), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLOUT}}
		if len(pending) > 0 {
			fds[0].Fd, fds[2].Fd = -1, int32(p.in)
		}
		if _, err := unix.Poll(fds, -1); err != nil {
			if err == unix.EINTR {
				continue
			}
			return
		}
		if fds[1].Revents != 0 {
			n := read(p.out, buffer)
			answer = x.reply(answer[:0], buffer[:n])
			if n == 0 {
				answer = append(answer, x.answer...)
			}
			if !write(1, answer) {
				return
			}
			if n == 0 {
				unix.Close(p.out)
				unix.Close(1)
				p.out, pending = -1, nil
			}
		}
		if fds[2].Revents != 0 && p.out >= 0 {
			n, err := unix.Write(p.in, pending)
			if pending = pending[max(n, 0):]; err != nil && err != unix.EINTR {
				pending = nil // addr2line has ended
			}
		}
		if fds[0].Revents != 0 {
			n := read(perf, buffer[:chunk])
			request = x.ask(request[:0], buffer[:n])
			if n == 0 {
				perf = -1
				request = append(request, x.request...)
			}
			if p.out >= 0 {
				pending = request
			}
		}
		if perf < 0 && len(pending) == 0 && p.in >= 0 {
			unix.Close(p.in)
			p.in = -1
		}
	}
}

// read reads once. It returns 0 at the end of input and after errors.
func read(fd int, b []byte) int {
	for {
		n, err := unix.Read(fd, b)
		if err == unix.EINTR {
			continue
		}
		return max(n, 0)
	}
}

// write writes all of b. It reports whether the reader is still there.
func write(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}
