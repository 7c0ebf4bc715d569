package monolog_test

import (
	"fmt"
	"io"
	"os"

	"github.com/jitinject/jitinject/internal/format/monolog"
)

// Which methods did Mono compile, and where to?
func ExampleReader() {
	f, err := os.Open("testdata/v17-calls.mlpd")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r, err := monolog.NewReader(f)
	if err != nil {
		panic(err)
	}
	fmt.Println("data version", r.Header().Version)
	for {
		if _, err := r.NextBuffer(); err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err)
			continue
		}
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				fmt.Println(err)
				break
			}
			if e.Kind == monolog.KindJIT && string(e.Name) == "Tiny:Fib (int)" {
				fmt.Printf("%s: %d bytes at %#x\n", e.Name, e.Size, e.Code)
			}
		}
	}
	// Output:
	// data version 17
	// Tiny:Fib (int): 164 bytes at 0x405e0fd0
}
