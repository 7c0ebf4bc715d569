package testrec

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Main runs the tests of a package with a private /tmp, and exits. TestMain calls it.
func Main(m *testing.M) {
	PrivateTmp()
	os.Exit(m.Run())
}

// MainOnDisk is Main with temporary directories on a disk, for programs that take all files below
// /dev for devices, as hotspot does.
func MainOnDisk(m *testing.M) {
	if os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", "/var/tmp")
	}
	Main(m)
}

// insideMark is set for a process with a private /tmp.
const insideMark = "JITINJECT_PRIVATE_TMP"

// PrivateTmp starts the test program again, in a mount namespace where /tmp is empty. The
// engine looks there for jit-PID.dump and perf-PID.map, and runtimes write there: files of
// other runs must not matter. Files that the arguments and the environment mention stay
// visible. Without root, or where mounting is not allowed, /tmp stays the shared one.
//
// Temporary directories are in /dev/shm or /var/tmp then, which the namespace shares: where a
// process of the machine has the number of a recorded one, perf looks for its files in that
// process's namespace.
func PrivateTmp() {
	if os.Getenv(insideMark) != "" || os.Geteuid() != 0 {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	// The namespace is this thread's; exec makes it the process's.
	runtime.LockOSThread()
	if unix.Unshare(unix.CLONE_NEWNS) != nil || unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") != nil {
		return
	}
	if mountTmp(mentionedInTmp(append(append(os.Environ(), os.Args...), program, dir))) != nil || unix.Chdir(dir) != nil {
		return
	}
	os.Setenv(insideMark, "1")
	if temp := os.TempDir(); temp == "/tmp" || strings.HasPrefix(temp, "/tmp/") {
		os.Setenv("TMPDIR", sharedTemp())
	}
	err = unix.Exec(program, os.Args, os.Environ())
	panic(err) // the tests would run with the wrong /tmp
}

// enoughMemory is the free space in /dev/shm, in bytes, that tests may use it with. They need a
// tenth of it at a time.
const enoughMemory = 2 << 30

// sharedTemp returns the directory for temporary files that namespaces share. In memory, tests take
// half the time: runs that sync, and perf with its thousands of files, wait for the disk.
func sharedTemp() string {
	const memory = "/dev/shm"
	var fs unix.Statfs_t
	if unix.Statfs(memory, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 && fs.Bavail*uint64(fs.Bsize) >= enoughMemory {
		return memory
	}
	return "/var/tmp"
}

// mentionedInTmp returns the entries of /tmp that texts mention.
func mentionedInTmp(texts []string) (names []string) {
	seen := map[string]bool{"": true, ".": true, "..": true}
	for _, text := range texts {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, "/tmp/")
			if !found {
				break
			}
			rest = after
			name := after
			if end := strings.IndexAny(after, "/:,;= \n"); end >= 0 {
				name = after[:end]
			}
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// mountTmp mounts an empty file system on /tmp, with the given entries of the old one.
func mountTmp(names []string) error {
	old, err := unix.Open("/tmp", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(old)
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"); err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(old, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		place := filepath.Join("/tmp", name)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			err = os.Mkdir(place, 0o755)
		case unix.S_IFREG:
			err = os.WriteFile(place, nil, 0o644)
		default:
			continue
		}
		if err != nil {
			return err
		}
		tree, err := unix.OpenTree(old, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return err
		}
		err = unix.MoveMount(tree, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH)
		unix.Close(tree)
		if err != nil {
			return err
		}
	}
	return nil
}
