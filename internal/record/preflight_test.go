package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

func TestInstallCommand_Distributions(t *testing.T) {
	for _, c := range []struct{ release, want string }{
		{"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\nHOME_URL=\"https://www.debian.org/\"\n", "apt install linux-perf"},
		{"PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n", "apt install linux-tools-generic linux-tools-$(uname -r)"},
		{"NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt install linux-tools-generic linux-tools-$(uname -r)"},
		{"NAME=\"Fedora Linux\"\nVERSION=\"42 (Workstation Edition)\"\nID=fedora\nVERSION_ID=42\nPLATFORM_ID=\"platform:f42\"\nVARIANT_ID=workstation\n", "dnf install perf"},
		{"NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install perf"},
		{"NAME=\"A rebuild\"\nID=\"unheard\"\nID_LIKE=\"rhel fedora\"\n", "dnf install perf"},
		{"NAME=\"openSUSE Tumbleweed\"\nID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", "zypper install perf"},
		{"NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n", "pacman -S perf"},
		{"NAME=\"Manjaro Linux\"\nID=manjaro\nID_LIKE=arch\n", "pacman -S perf"},
		{"NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.22.0\n", "apk add perf"},
		{"NAME=NixOS\nID=nixos\nID_LIKE=\"\"\n", ""},
		{"VERSION_ID=debian\nBUILD_ID=arch\n", ""},
		{"ID='debian'\n", "apt install linux-perf"},
		{"", ""},
	} {
		if got := installCommand(c.release); got != c.want {
			t.Errorf("%q: got %q; want %q", c.release, got, c.want)
		}
	}
}

func TestFindPerf_NotInPath(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := FindPerf()
	if err == nil || !strings.HasPrefix(err.Error(), "perf is not installed, or not in PATH") {
		t.Errorf("got %v; want that it is not installed", err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "perf"), "#!/bin/sh\n")
	t.Setenv("PATH", dir)
	if path, err := FindPerf(); err != nil || path != filepath.Join(dir, "perf") {
		t.Errorf("got %q, %v; want the one in PATH", path, err)
	}
}

func TestNotPermitted_Texts(t *testing.T) {
	const container, sysctl1, sysctl0 = "docker run --cap-add PERFMON", "sysctl kernel.perf_event_paranoid=1", "sysctl kernel.perf_event_paranoid=0"
	for _, c := range []struct {
		err          error
		paranoid     string
		all, isRoot  bool
		want, unlike string
	}{
		{unix.EACCES, "4", false, false, sysctl1, "docker"},
		{unix.EACCES, "3", false, false, sysctl1, "docker"},
		{unix.EPERM, "3", false, false, sysctl1, "docker"},
		{unix.EACCES, "2", false, false, container, "sysctl"}, // the kernel permits user space
		{unix.EPERM, "1", false, false, container, "sysctl"},
		{unix.EPERM, "-1", false, false, container, "sysctl"},
		{unix.EACCES, "2", true, false, sysctl0, "docker"},
		{unix.EACCES, "1", true, false, sysctl0, "docker"},
		{unix.EPERM, "0", true, false, container, "sysctl"},
		{unix.EPERM, "4", false, true, container, "sysctl"},
		{unix.EACCES, "2", true, true, container, "sysctl"},
		{unix.EACCES, "", false, false, sysctl1, "docker"}, // /proc is hidden
		{unix.ENOSYS, "2", false, false, "no perf events", "sysctl"},
		{unix.ENOSYS, "2", true, true, "no perf events", "sysctl"},
	} {
		err := notPermitted(c.err, c.paranoid, c.all, c.isRoot)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.unlike) {
			t.Errorf("got %v for %+v; want %q, without %q", err, c, c.want, c.unlike)
		}
	}
	for _, err := range []error{unix.ENOENT, unix.EINVAL, unix.EOPNOTSUPP, unix.EMFILE} {
		if got := notPermitted(err, "2", false, false); got != nil {
			t.Errorf("got %v for %v; want none, as perf may have better luck", got, err)
		}
	}
}

// It agrees with the kernel of this machine: perf's own attempt ends in the same way.
func TestPermitted_AsPerf(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	out, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock:u", "-o", filepath.Join(t.TempDir(), "perf.data"), "true").CombinedOutput()
	if got := Permitted(false); (got == nil) != (err == nil) {
		t.Errorf("got %v; want as perf record: %v\n%s", got, err, out)
	}
}

// Only root can record a process of another user. A process that has ended cannot be recorded.
func TestRecordable_Processes(t *testing.T) {
	command := []string{"/usr/bin/jitinject", "record", "-p", "7", "-e", "a b"}
	if os.Getenv("JITINJECT_RECORDABLE") != "" { // as another user
		fmt.Print(Recordable(strconv.Itoa(os.Getppid()), command))
		os.Exit(0)
	}
	testrec.CanRecord(t)
	if err := Recordable(strconv.Itoa(os.Getpid()), command); err != nil {
		t.Errorf("got %v for this process", err)
	}
	for _, pid := range []string{"2147483647", "x", ""} {
		if err := Recordable(pid, command); err == nil || err.Error() != "there is no process "+pid {
			t.Errorf("got %v for process %q", err, pid)
		}
	}
	if os.Geteuid() != 0 {
		testrec.Skip(t, "only root becomes another user")
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "record-test-") // another user cannot enter that of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", t.Name())
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "JITINJECT_RECORDABLE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	want := fmt.Sprintf("process %d is another user's, so only root may record it: sudo /usr/bin/jitinject record -p 7 -e 'a b'", os.Getpid())
	if err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

// programs makes programs in a directory, which becomes PATH.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const elf = "\x7fELF\x02\x01\x01"
	for name, text := range map[string]string{
		"python3.11": elf, "python3.12": elf, "python3.13": elf, "python3.14t": elf, "php8.2": elf, "php-fpm8.4": elf, "php-cgi": elf, "node": elf, "java": elf, "bash": elf, "phpize": "#!/bin/sh\n", "pythonista": elf,
		"new":         "#!" + dir + "/python3.13\nprint()\n",
		"old":         "#!" + dir + "/python3.11 -u\nprint()\n",
		"any":         "#!/usr/bin/env python3\n",
		"any13":       "#!/usr/bin/env -S python3.13 -X perf_jit\n",
		"with":        "#!/usr/bin/env -S A=b -i php\n",
		"absent":      "#!/usr/bin/env python3.15\n",
		"composer":    "#!/usr/bin/env php\n<?php\n",
		"of-a-script": "#!" + dir + "/new\n",
		"space":       "#! " + dir + "/php8.2\n",
		"empty":       "", "hash-only": "#!\n", "env-only": "#!/usr/bin/env\n", "crlf": "#!/usr/bin/env php\r\n",
		"mvn": "#!/bin/sh\n", "app.jar.sh": "#!" + dir + "/java -jar\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	for link, to := range map[string]string{"python3": "python3.11", "python": "python3", "php": "/" + dir + "/php8.2", "loop": "loop", "tool": "composer", "jvm": "java"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return dir
}

func TestStacks_Programs(t *testing.T) {
	dir := programs(t)
	for command, want := range map[string]string{
		"node": "", "bash": "", "java": "", "phpize": "", "pythonista": "", "not-installed": "", "empty": "", "hash-only": "", "env-only": "", "loop": "",
		"python3.11": "", "python3.12": "", "python3": "", "python": "", "old": "", "any": "",
		"python3.13": pythonStacks, "python3.14t": pythonStacks, "new": pythonStacks, "any13": pythonStacks, "absent": pythonStacks, "of-a-script": pythonStacks,
		"php": phpStacks, "php8.2": phpStacks, "php-fpm8.4": phpStacks, "php-cgi": phpStacks, "composer": phpStacks, "tool": phpStacks, "with": phpStacks, "space": phpStacks, "crlf": phpStacks,
	} {
		for _, word := range []string{command, filepath.Join(dir, command)} {
			if got := commandStacks([]string{word, "app"}); got != want {
				t.Errorf("%s: got %q; want %q", word, got, want)
			}
		}
	}
}

func TestNeedsAgent_Commands(t *testing.T) {
	programs(t)
	for command, want := range map[string]bool{"java": true, "java -agentpath:/a.so App": false, "mvn": true, "jvm": true, "app.jar.sh": true, "node": false, "bash": false, "not-installed": false} {
		if got := NeedsAgent(strings.Fields(command)); got != want {
			t.Errorf("%s: got %v; want %v", command, got, want)
		}
	}
}
