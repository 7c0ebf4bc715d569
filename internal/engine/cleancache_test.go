package engine_test

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/testrec"
)

// cacheFiles returns the files and links of a build-id cache, without directories.
func cacheFiles(t *testing.T, cache string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Cleaning removes the entries of the objects from the build-id cache, with their links and
// directories, and no others.
func TestClean_BuildIDCache(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		dir := testrec.Place(t, "php")
		cache, out := filepath.Join(dir, "cache"), filepath.Join(dir, "out.data")
		made, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, BuildIDCache: cache, Bundle: bundle})
		if err != nil || made.Cached == 0 {
			t.Fatalf("got %+v, %v; want no error, Cached other than 0", made, err)
		}
		stranger := filepath.Join(cache, "lib/libc.so/0123456789", "elf")
		if err := os.MkdirAll(filepath.Dir(stranger), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, stranger, []byte("of perf"))
		var named []string
		opts := objstore.CleanOptions{Input: out, BuildIDCache: cache, DryRun: true, Log: func(path string) { named = append(named, path) }}
		before := len(cacheFiles(t, cache))
		dry := clean(t, opts)
		if n := len(cacheFiles(t, cache)); n != before || len(named) != made.Objects+made.Cached {
			t.Errorf("a dry run leaves %d of %d files, and names %d", n, before, len(named))
		}
		opts.DryRun = false
		sum := clean(t, opts)
		if sum.Cached != made.Cached || dry.Cached != sum.Cached || sum.Bytes != dry.Bytes || sum.CachedBytes != dry.CachedBytes || sum.CachedBytes == 0 || !sum.Complete() {
			t.Errorf("got %s, in a dry run %s; want Cached = %d, the same bytes", asJSON(sum), asJSON(dry), made.Cached)
		}
		if left := cacheFiles(t, cache); len(left) != 1 || left[0] != stranger {
			t.Errorf("got %q; want only %s", left, stranger)
		}
		if left := namesIn(t, filepath.Join(cache, dir), ""); len(left) > 0 {
			t.Errorf("directories %q are left", left)
		}
		if again := clean(t, opts); again.Cached != 0 || !again.Complete() {
			t.Errorf("again: got %s; want Cached = 0", asJSON(again))
		}
		opts.BuildIDCache = filepath.Join(dir, "nowhere")
		if none := clean(t, opts); none.Cached != 0 || !none.Complete() {
			t.Errorf("without a cache: got %s; want Cached = 0", asJSON(none))
		}
		if _, err := os.Stat(opts.BuildIDCache); err == nil {
			t.Error("a cache was made")
		}
		opts.BuildIDCache = out
		if sum, err := objstore.Clean(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "nothing was removed") {
			t.Errorf("a file for a cache: got %+v, %v; want an error", sum, err)
		}
	}
}

// Files with another content, links, and links to other entries stay in the cache.
func TestClean_BuildIDCacheOthersStay(t *testing.T) {
	dir := testrec.Place(t, "php")
	cache, out := filepath.Join(dir, "cache"), filepath.Join(dir, "out.data")
	if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, BuildIDCache: cache}); err != nil {
		t.Fatal(err)
	}
	var entries []string
	clean(t, objstore.CleanOptions{Input: out, BuildIDCache: cache, DryRun: true, Log: func(path string) {
		if strings.HasPrefix(path, cache) {
			entries = append(entries, filepath.Dir(path))
		}
	}})
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link := func(entry string) string {
		id := filepath.Base(entry)
		if _, err := hex.DecodeString(id); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(cache, ".build-id", id[:2], id[2:])
	}
	file := func(i int) string { return filepath.Join(entries[i], "elf") }
	outside := filepath.Join(dir, "outside")
	do(os.WriteFile(file(0), []byte("no ELF file"), 0o600))
	do(os.Remove(file(1))) // another object's content
	do(os.WriteFile(file(1), read(t, file(9)), 0o600))
	do(os.Rename(file(2), filepath.Join(dir, "elsewhere.so"))) // a link out of the cache
	do(os.Symlink(filepath.Join(dir, "elsewhere.so"), file(2)))
	do(os.Rename(entries[3], outside)) // a directory's link out of it
	do(os.Symlink(outside, entries[3]))
	do(os.Rename(entries[4], entries[4]+".moved")) // one inside of it
	do(os.Symlink(entries[4]+".moved", entries[4]))
	do(os.Remove(link(entries[5]))) // the id belongs to another path now
	do(os.Symlink("../../lib/other", link(entries[5])))
	do(os.WriteFile(filepath.Join(entries[6], "probes"), nil, 0o600)) // of perf
	do(os.WriteFile(filepath.Join(entries[7], "stranger"), nil, 0o600))

	sum := clean(t, objstore.CleanOptions{Input: out, BuildIDCache: cache})
	if sum.Cached != len(entries)-5 || len(sum.Kept) != 3 {
		t.Errorf("got %s; want Cached = %d, 3 kept", asJSON(sum), len(entries)-5)
	}
	for _, path := range []string{file(0), file(1), file(2), filepath.Join(dir, "elsewhere.so"), filepath.Join(outside, "elf"), entries[3], filepath.Join(entries[4]+".moved", "elf"), entries[4], link(entries[5]), filepath.Join(entries[7], "stranger")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	for _, path := range []string{file(5), entries[6], filepath.Dir(entries[6]), link(entries[6]), file(7), link(entries[7])} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
