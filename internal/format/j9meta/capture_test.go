package j9meta

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// captureFiles writes the files of a capture X into a new directory.
func captureFiles(t *testing.T, metadata []byte, description string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "X.bin"), metadata)
	write(t, filepath.Join(dir, "X.json"), []byte(description))
	return dir
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// header returns the first bytes of a struct whose startPC is 0x12345678.
func header(size int, order binary.ByteOrder) []byte {
	b := make([]byte, 232)
	if size == 4 {
		order.PutUint32(b[20:], 0x12345678)
	} else {
		order.PutUint64(b[40:], 0x12345678)
	}
	return b
}

func TestCapture_Read(t *testing.T) {
	dir := captureFiles(t, header(8, binary.LittleEndian), `{
		"base": "0x7e0000000000", "startPC": "0x12345678", "machine": "x86_64", "pid": 42, "time": 18446744073709551615,
		"code": "X.code", "cold_code": "cold", "nsites": 3,
		"methods": [
			{"method": "0x500000", "class": "App", "name": "<init>", "signature": "(I)V", "file": "App.java", "user": true, "lines": [[0, 7], [5, 8], [9, 7]]},
			{"method": 5242912}
		]}`)
	write(t, filepath.Join(dir, "X.code"), []byte{0xc3})
	write(t, filepath.Join(dir, "cold"), []byte{0x90, 0xc3})
	time := uint64(1<<64 - 1)
	want := &Capture{
		Description: Description{
			Base: 0x7e0000000000, StartPC: 0x12345678, Machine: "x86_64", PID: 42, Time: &time, CodeFile: "X.code", ColdCodeFile: "cold",
			Methods: []CaptureMethod{
				{Method: 0x500000, Class: "App", Name: "<init>", Signature: "(I)V", File: "App.java", User: true, Lines: [][2]uint32{{0, 7}, {5, 8}, {9, 7}}},
				{Method: 5242912},
			},
		},
		Path: filepath.Join(dir, "X.bin"), JSONPath: filepath.Join(dir, "X.json"),
		Mode: 0o600, Metadata: header(8, binary.LittleEndian), Layout: Layout{Order: binary.LittleEndian, PointerSize: 8},
		Code: []byte{0xc3}, ColdCode: []byte{0x90, 0xc3},
	}
	size := func() (n int64) {
		for _, name := range []string{"X.bin", "X.json", "X.code", "cold"} {
			st, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			n += st.Size()
		}
		return n
	}
	want.Size = size()
	for name, mode := range map[string]os.FileMode{"X.bin": 0o644, "X.json": 0o640, "cold": 0o604} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"X.bin", "X.json"} {
		got, err := ReadCapture(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}

	// What is written is read again.
	text := description(&want.Description)
	write(t, want.JSONPath, text)
	want.Size = size()
	got, err := ReadCapture(want.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("after writing\n%s\n got %+v\nwant %+v", text, got, want)
	}
}

// A known startPC tells layouts apart.
func TestCapture_LayoutByStartPC(t *testing.T) {
	const where = `"base": "0x1000", "startPC": "0x12345678"`
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	for _, test := range []struct {
		name     string
		metadata []byte
		says     string
		want     Layout
	}{
		{"64 bits, little", header(8, little), "", Layout{Order: little, PointerSize: 8}},
		{"64 bits, big", header(8, big), "", Layout{Order: big, PointerSize: 8}},
		{"32 bits, little", header(4, little), "", Layout{Order: little, PointerSize: 4}},
		{"32 bits, big", header(4, big), "", Layout{Order: big, PointerSize: 4}},
		{"of another machine", header(8, big), `, "machine": "ppc64le"`, Layout{Order: big, PointerSize: 8}},
		{"nothing fits", make([]byte, 216), "", Layout{Order: little, PointerSize: 8}},
		{"empty", nil, "", Layout{Order: little, PointerSize: 8}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := ReadCapture(filepath.Join(captureFiles(t, test.metadata, "{"+where+test.says+"}"), "X.bin"))
			if err != nil {
				t.Fatal(err)
			}
			if c.Layout != test.want {
				t.Errorf("got %+v, want %+v", c.Layout, test.want)
			}
		})
	}
}

func TestCapture_Errors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no base", `{"startPC": "0x1"}`, `X.json: it has no "base"`},
		{"no startPC", `{"base": "0x1"}`, `X.json: it has no "startPC"`},
		{"kind", `{"base": 1, "startPC": 1, "pid": "x"}`, "X.json: json: cannot unmarshal string into Go struct field Description.pid"},
		{"no JSON", "{\n\"base\": \n}", "X.json: it is no JSON: line 3: "},
		{"address", `{"base": "somewhere", "startPC": 1}`, `X.json: "somewhere" is no address`},
		{"NUL", `{"base": 1, "startPC": 1, "methods": [{"method": 7, "name": "a\u0000b"}]}`, `X.json: methods[0] has a NUL in a name`},
		{"code elsewhere", `{"base": 1, "startPC": 1, "code": "../../etc/shadow"}`, `X.json: code: "../../etc/shadow" is not the name of a file beside the capture`},
		{"code above", `{"base": 1, "startPC": 1, "code": ".."}`, `X.json: code: ".." is not the name`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := captureFiles(t, nil, test.text)
			_, err := ReadCapture(filepath.Join(dir, "X.bin"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestCapture_FileMissing(t *testing.T) {
	dir := captureFiles(t, nil, `{"base": 1, "startPC": 1}`)
	for _, test := range []struct{ remove, read, want string }{
		{"", "X.dat", "it is no capture of OpenJ9's metadata, which is a file X.bin with X.json beside it"},
		{"X.json", "X.bin", `X.json: there is no such file`},
		{"X.bin", "X.bin", "X.json: there is no such file"},
	} {
		if test.remove != "" {
			os.Remove(filepath.Join(dir, test.remove))
		}
		_, err := ReadCapture(filepath.Join(dir, test.read))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.read, err, test.want)
		}
	}
	write(t, filepath.Join(dir, "X.json"), []byte(`{"base": 1, "startPC": 1}`))
	if _, err := ReadCapture(filepath.Join(dir, "X.json")); err == nil || !strings.Contains(err.Error(), `X.bin: there is no such file`) {
		t.Error(err)
	}
}

// A file with code that cannot be read costs nothing but the code.
func TestCapture_CodeUnreadable(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`"cold_code": "gone"`, `its JSON names "gone" as cold_code: there is no such file`},
		{`"cold_code": "link"`, `its JSON names "link" as cold_code: it is a symbolic link, which is not followed: anyone could have put it there`},
		{`"cold_code": "fifo"`, `its JSON names "fifo" as cold_code: it is not a regular file`},
		{`"cold_code": "hole"`, `its JSON names "hole" as cold_code: it has 209715200 bytes, and most of them are holes`},
	} {
		dir := captureFiles(t, header(8, binary.LittleEndian), `{"base": 1, "startPC": "0x12345678", "code": "X.code", `+test.text+`}`)
		write(t, filepath.Join(dir, "X.code"), []byte{0xc3})
		write(t, filepath.Join(dir, "hole"), []byte{0xc3})
		if err := os.Truncate(filepath.Join(dir, "hole"), 200<<20); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("X.bin", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := ReadCapture(filepath.Join(dir, "X.bin"))
		if err != nil || string(c.Code) != "\xc3" || c.ColdCode != nil {
			t.Fatalf("%s: got %+v, %v; want no error, c.Code = \"\\xc3\", no ColdCode", test.text, c, err)
		}
		if len(c.CodeErrors) != 1 || c.CodeErrors[0].Error() != test.want {
			t.Errorf("%s: got %v; want 1 code error, c.CodeErrors[0] = %v", test.text, c.CodeErrors, test.want)
		}
	}
}

// Of the files in a directory, captures are those that have both files, whatever is in them: who
// reads them finds out.
func TestFindCaptures_InDirectory(t *testing.T) {
	dir := captureFiles(t, nil, `{"base": 1, "startPC": 1}`)
	for name, text := range map[string]string{
		"A.bin": "", "A.json": `{"base": "0x1", "startPC": "0x2", "pid": "wrong"}`,
		"alone.bin": "", "also.json": `{"base": 1, "startPC": 1}`,
		"other.bin": "", "other.json": `{"base": 1}`,
		"broken.bin": "", "broken.json": `{`,
		"linked.bin": "", "X.code": "",
	} {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	if err := os.Symlink("X.json", filepath.Join(dir, "linked.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "dir.json"), []byte(`{"base": 1, "startPC": 1}`))
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
	got, err := FindCaptures(dir)
	if want := in("A.bin", "X.bin", "broken.bin", "linked.bin", "other.bin"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := FindCaptures(filepath.Join(dir, "gone")); err == nil {
		t.Error("a directory that is not there has captures")
	}
	for name, pair := range map[string]bool{"X.bin": true, "broken.json": true, "alone.bin": false, "also.json": false, "X.code": false, "dir.bin": false} {
		if IsCapturePair(filepath.Join(dir, name)) != pair {
			t.Errorf("%s: a pair is %v", name, !pair)
		}
	}
}

// The vectors are captures.
func TestCapture_ReferenceVectors(t *testing.T) {
	paths, err := FindCaptures("testdata")
	if err != nil || len(paths) < 6 {
		t.Fatalf("got %+v, %v; want no error, at least 6 paths", paths, err)
	}
	for _, path := range paths {
		c, err := ReadCapture(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Body()
		if err != nil {
			t.Fatal(err)
		}
		parts, err := c.Parts()
		start, end := b.Header.Warm()
		if err != nil || !reflect.DeepEqual(parts, []CodePart{{start, end}}) {
			t.Errorf("%s: parts are %#x, %v, want %#x to %#x", path, parts, err, start, end)
		}
		c.StartPC++
		if _, err := c.Body(); err == nil || !strings.Contains(err.Error(), "startPC at offset 0x28 is") {
			t.Errorf("%s: with another startPC: %v", path, err)
		}
		if _, err := c.Parts(); err == nil || !strings.Contains(err.Error(), "startPC at offset 0x28 is") {
			t.Errorf("%s: with another startPC: %v", path, err)
		}
	}
}

// Of a body that is cut, or damaged behind its first fields, these are still known.
func TestCapture_CutBody(t *testing.T) {
	for _, size := range []int{4, 8} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			b := make([]byte, 9*size)
			put := func(i int, v uint64) {
				if size == 4 {
					order.PutUint32(b[4*i:], uint32(v))
				} else {
					order.PutUint64(b[8*i:], v)
				}
			}
			c := &Capture{Metadata: b, Description: Description{StartPC: 0x1000}, Layout: Layout{Order: order, PointerSize: size}}
			put(5, 0x1000)
			put(6, 0x1100)
			put(8, 0x1100)
			if parts, err := c.Parts(); err != nil || !reflect.DeepEqual(parts, []CodePart{{0x1000, 0x1100}}) {
				t.Errorf("got %+v, %v; want no error, 0x1000 to 0x1100", parts, err)
			}
			put(7, 0x5000)
			put(8, 0x5020)
			if parts, err := c.Parts(); err != nil || !reflect.DeepEqual(parts, []CodePart{{0x1000, 0x1100}, {0x5000, 0x5020}}) {
				t.Errorf("got %+v, %v; want no error, 0x1000 to 0x1100, and 0x5000 to 0x5020", parts, err)
			}
			put(8, 0x5000)
			if _, err := c.Parts(); err == nil || !strings.Contains(err.Error(), "endPC at offset") {
				t.Error(err)
			}
			put(6, 0xfff)
			if _, err := c.Parts(); err == nil || !strings.Contains(err.Error(), "endWarmPC at offset") {
				t.Error(err)
			}
			c.Metadata = b[:len(b)-1]
			if _, err := c.Parts(); err == nil || !strings.Contains(err.Error(), "it has") {
				t.Error(err)
			}
		}
	}
}

// Whatever is in the files, there is an error or a capture, and no panic.
func TestCapture_AnyContents(t *testing.T) {
	metadata, err := os.ReadFile("testdata/inline-216.bin")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"base":"0x7e0000000000","startPC":"0x7f8800001020","epoch":216,"pid":1,"time":2,"code":"X.bin","methods":[{"method":"0x500000","class":"A","name":"f","lines":[[0,1],[2,3]]}]}`
	dir := captureFiles(t, metadata, text)
	path := filepath.Join(dir, "X.bin")
	use := func() (ok bool) {
		c, err := ReadCapture(path)
		if err != nil {
			if !strings.Contains(err.Error(), "X.") {
				t.Errorf("the file is not named: %v", err)
			}
			return false
		}
		_, partsErr := c.Parts()
		_, bodyErr := c.Body()
		return partsErr == nil && bodyErr == nil
	}
	if !use() {
		t.Fatal("what is not damaged cannot be used")
	}
	for i := range text {
		write(t, filepath.Join(dir, "X.json"), []byte(text[:i]))
		if use() {
			t.Errorf("cut at %d it is a capture all the same", i)
		}
		for _, c := range []byte{0, '"', '9', ']', 0xff} {
			write(t, filepath.Join(dir, "X.json"), append(append([]byte(text[:i]), c), text[i+1:]...))
			use()
		}
	}
	write(t, filepath.Join(dir, "X.json"), []byte(text))
	for i := range metadata {
		write(t, path, metadata[:i])
		if use() {
			t.Errorf("with metadata cut at %d it can be used all the same", i)
		}
	}
}
