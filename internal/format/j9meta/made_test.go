package j9meta_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/wire"
)

const madeBodies = 4000

func init() { j9meta.SetEncoder(j9gen.Encode, j9gen.Lay, j9gen.Description) }

// made returns a generated body of a seed, and its blob.
func made(t testing.TB, seed uint64) (*j9meta.Body, []byte) {
	t.Helper()
	b := j9gen.Random(rand.New(rand.NewPCG(seed, 9)), j9gen.Options{})
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return b, blob
}

// What was laid out and encoded is decoded as it was, with and without the size
// of the header, and then encoded to the same bytes.
func TestDecode_GeneratedBodies(t *testing.T) {
	for seed := range uint64(madeBodies) {
		b, blob := made(t, seed)
		if len(blob) != int(b.Header.Size) {
			t.Fatalf("seed %d: %d bytes, the header says %d", seed, len(blob), b.Header.Size)
		}
		for _, headerSize := range []int{b.Layout.HeaderSize, 0} {
			l := b.Layout
			l.HeaderSize = headerSize
			got, err := j9meta.Decode(blob, b.Base, l)
			if err != nil {
				t.Fatalf("seed %d, header size %d: %v", seed, headerSize, err)
			}
			if headerSize == 0 {
				if diff := difference("body", reflect.ValueOf(*got), reflect.ValueOf(*b)); diff != "" {
					t.Fatalf("seed %d: %s", seed, diff)
				}
			}
			again, err := j9gen.Encode(got)
			if err != nil || !bytes.Equal(again, blob) {
				t.Fatalf("seed %d, header size %d: other bytes when encoded again, error %v", seed, headerSize, err)
			}
		}
	}
}

// Damage is an error that says where it is, or what is decoded is encoded as it
// was: bits that are flipped, and a size that says that there is less.
func TestDecode_GeneratedAndDamaged(t *testing.T) {
	decoded, all := 0, 0
	try := func(blob []byte, b *j9meta.Body) {
		t.Helper()
		all++
		if checkBlob(t, blob, b.Base, b.Layout) {
			decoded++
		}
	}
	for seed := uint64(0); seed < madeBodies; seed += 40 {
		b, blob := made(t, seed)
		rng := rand.New(rand.NewPCG(seed, 5))
		for range 50 {
			damaged := bytes.Clone(blob)
			for range 1 + rng.IntN(3) {
				damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			}
			try(damaged, b)
			shorter := bytes.Clone(blob)
			b.Layout.Order.PutUint32(shorter[10*b.Layout.PointerSize+12:], rng.Uint32N(uint32(len(blob))))
			try(shorter, b)
		}
	}
	if decoded < all/20 || decoded > all*19/20 {
		t.Errorf("%d of %d damaged blobs are decoded: this tests one side only", decoded, all)
	}
}

// A header of more fields than are known keeps what it has.
func TestDecode_LaterHeader(t *testing.T) {
	for seed := range uint64(100) {
		o := j9gen.Options{Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 232 + 8*int(1+seed%30)}}
		b := j9gen.Random(rand.New(rand.NewPCG(seed, 4)), o)
		blob, err := j9gen.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		o.Layout.HeaderSize = 0
		got, err := j9meta.Decode(blob, b.Base, o.Layout)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := difference("body", reflect.ValueOf(*got), reflect.ValueOf(*b)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// difference says where two values first differ; an empty list is none.
func difference(where string, got, want reflect.Value) string {
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			if d := difference(where+"."+got.Type().Field(i).Name, got.Field(i), want.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if got.Len() != want.Len() {
			return fmt.Sprintf("%s: %d elements, expected %d", where, got.Len(), want.Len())
		}
		fallthrough
	case reflect.Array:
		for i := range got.Len() {
			if d := difference(fmt.Sprintf("%s[%d]", where, i), got.Index(i), want.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Pointer:
		if got.IsNil() != want.IsNil() {
			return fmt.Sprintf("%s: there is one: %t, expected %t", where, !got.IsNil(), !want.IsNil())
		}
		if got.IsNil() {
			return ""
		}
		return difference(where, got.Elem(), want.Elem())
	}
	if !reflect.DeepEqual(got.Interface(), want.Interface()) {
		return fmt.Sprintf("%s: %v, expected %v", where, got, want)
	}
	return ""
}

// A blob that ends early is an error that says where, whichever byte is the last.
func TestDecode_GeneratedAndCut(t *testing.T) {
	for seed := uint64(0); seed < madeBodies; seed += 50 {
		b, blob := made(t, seed)
		for n := range len(blob) {
			_, err := j9meta.Decode(blob[:n], b.Base, b.Layout)
			var where *wire.Error
			if !errors.As(err, &where) || where.Offset > int64(n) {
				t.Fatalf("seed %d, %d of %d bytes: %v", seed, n, len(blob), err)
			}
		}
	}
}
