package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// postgres runs the queries in one process. PostgreSQL refuses to run as root, so it runs
// as nobody.
func postgres(ctx context.Context, s *site) (*command, error) {
	const nobody = "65534"
	bin := "usr/lib/postgresql/" + s.version + "/bin/"
	server, err := s.release.find(bin + "postgres")
	if err != nil {
		return nil, err
	}
	as := []string{"setpriv", "--reuid=" + nobody, "--regid=" + nobody, "--clear-groups"}
	home := filepath.Join(s.work, "postgres")
	if err := os.RemoveAll(home); err != nil {
		return nil, err
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chown(home, 65534, 65534); err != nil {
		return nil, err
	}
	// initdb starts the server from its own folder. So it runs inside that, with the work
	// directory mounted.
	data := filepath.Join(home, "data")
	initdb := []string{"--no-sync", "--auth=trust", "--username=postgres", "-D", data}
	setUp := slices.Concat(as, []string{s.release.path(bin + "initdb")}, initdb)
	if !s.release.here() {
		const inside = `mkdir -p "$1$2" && mount --bind "$2" "$1$2" && mount --bind /dev "$1/dev" && root=$1 && shift 2 && exec chroot "$root" "$@"`
		setUp = slices.Concat([]string{"unshare", "--mount", "sh", "-c", inside, "sh", s.release.dir, s.work}, as, []string{"/" + bin + "initdb"}, initdb)
	}
	if _, err := output(ctx, home, []string{"HOME=" + home, "LC_ALL=C"}, setUp...); err != nil {
		return nil, err
	}
	words, err := s.release.command(server, "--single", "-D", data, "-c", "jit_profiling_support=on", "-c", "dynamic_library_path="+s.release.path("usr/lib/postgresql/"+s.version+"/lib"), "postgres")
	return &command{args: slices.Concat(as, words), env: []string{"JITDUMPDIR=" + home, "HOME=" + home}, stdin: "truth.sql"}, err
}
