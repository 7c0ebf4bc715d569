// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. Mono's log has names only, and so has .NET's map.
// mcs -debug Truth.cs Other.cs; mono Truth.exe [MILLISECONDS for each function]
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

class Truth {
    const int N = 20000;
    static int sink;

    static int Declared(int n) {
        int s = 1;
        for (int i = 0; i < n; i++) s = s * 31 + (i ^ s >> 3); // hot: Truth:Declared, Truth::Declared
        return s;
    }

    class Point {
        protected int x = 1;

        public Point(int n) {
            int s = n;
            for (int i = 0; i < n; i++) s = s * 33 + (i ^ s >> 3); // hot: Truth/Point:.ctor, Truth+Point::.ctor
            x = s & 7;
        }

        public int Method(int n) {
            int s = x;
            for (int i = 0; i < n; i++) s = s * 35 + (i ^ s >> 3); // hot: Method
            return s;
        }

        public int Read {
            get {
                int s = x;
                for (int i = 0; i < N; i++) s = s * 37 + (i ^ s >> 3); // hot: get_Read
                return s;
            }
            set {
                int s = x;
                for (int i = 0; i < value; i++) s = s * 39 + (i ^ s >> 3); // hot: set_Read
                x = s & 7;
            }
        }

        public int this[int n] {
            get {
                int s = x;
                for (int i = 0; i < n; i++) s = s * 41 + (i ^ s >> 3); // hot: get_Item
                return s;
            }
        }

        public static int operator +(Point p, int n) {
            int s = p.x;
            for (int i = 0; i < n; i++) s = s * 43 + (i ^ s >> 3); // hot: op_Addition
            return s;
        }

        public virtual int Overridden(int n) {
            return n;
        }
    }

    class Heir : Point {
        public Heir(int n) : base(n) {
        }

        public override int Overridden(int n) {
            int s = base.Overridden(1);
            for (int i = 0; i < n; i++) s = s * 45 + (i ^ s >> 3); // hot: Truth/Heir:Overridden, Truth+Heir::Overridden
            return s;
        }
    }

    struct Pair {
        public int A, B;

        public int OfStruct(int n) {
            int s = A;
            for (int i = 0; i < n; i++) s = s * 47 + (i ^ s >> 3); // hot: OfStruct
            return s;
        }
    }

    static Func<int, int> Adder(int k) {
        return n => {
            int s = k;
            for (int i = 0; i < n; i++) s = s * 49 + (i ^ s >> 3); // hot: <>m__0
            k = s & 7;
            return s;
        };
    }

    static IEnumerable<int> Generator(int n) {
        int s = 5;
        for (int i = 0; i < n; i++) s = s * 51 + (i ^ s >> 3); // hot: MoveNext
        yield return s;
    }

    static int Caught(int n) {
        int s = 8;
        try {
            for (int i = 0; i < n; i++) s = s * 53 + (i ^ s >> 3); // hot: Caught
            throw new InvalidOperationException("thrown");
        } catch (InvalidOperationException) {
            s ^= 1;
        } finally {
            s++;
        }
        return s;
    }

    static int Recursive(int n) {
        if (n <= 0) return sink & 1;
        int s = 0;
        for (int i = 0; i < 2000; i++) s = s * 55 + (i ^ s >> 3); // hot: Recursive
        return s ^ Recursive(n - 2000);
    }

    static int OnOneLine(int n) { int s = 9; for (int i = 0; i < n; i++) s = s * 57 + (i ^ s >> 3); return s; } // hot: OnOneLine

    static int Callback(int x) {
        int s = x;
        for (int i = 0; i < 2000; i++) s = s * 59 + (i ^ s >> 3); // hot: Callback
        return s & 7;
    }

    static int HigherOrder(int n) {
        return Enumerable.Range(0, 10).Select(Callback).Sum();
    }

    static int Compare(int a, int b) {
        int t = a - b;
        for (int i = 0; i < 5000; i++) t = t * 61 + (i ^ t >> 3); // hot: Truth:Compare, Truth::Compare
        sink += t & 1;
        return a - b;
    }

    static int Ordered(int n) {
        var kept = new List<int> { 3, 1, 2 };
        kept.Sort(Compare);
        return kept[0];
    }

    static double Floats(int n) {
        double s = 0.5;
        for (int i = 0; i < n; i++) s = s * 0.999 + 0.25; // hot: Floats
        return s;
    }

    static byte[] bytes = new byte[4096];

    static int Arrays(int n) {
        int s = 13;
        for (int i = 0; i < n; i++) s += bytes[(s + i) & 4095] + (s >> 3); // hot: Arrays
        return s;
    }

    static int Switched(int n) {
        int s = 14;
        for (int i = 0; i < n; i++) switch (s & 3) { case 0: s += i; break; case 1: s ^= 3 * i; break; case 2: s -= 5; break; default: s = s * 7 + i; break; } // hot: Switched
        return s;
    }

    static int ByReference(ref int s, out int t, int n) {
        t = s;
        for (int i = 0; i < n; i++) t = t * 63 + (i ^ t >> 3); // hot: ByReference
        return s = t;
    }

    static int Generic<T>(T a, int n) where T : IComparable<T> {
        int s = a.CompareTo(a);
        for (int i = 0; i < n; i++) s = s * 65 + (i ^ s >> 3); // hot: Generic
        return s;
    }

    static int Variadic(params int[] more) {
        int s = more.Length;
        for (int i = 0; i < more[0]; i++) s = s * 67 + (i ^ s >> 3); // hot: Variadic
        return s;
    }

    static long Longs(long n) {
        long s = 16;
        for (long i = 0; i < n; i++) s = s * 69 + (i ^ s >> 3); // hot: Longs
        return s;
    }

    static int Unchecked(int n) {
        int s = 17;
        checked { for (int i = 0; i < n; i++) s = (s & 0xffff) * 71 + i; } // hot: Unchecked
        return s;
    }

    static void Main(string[] args) {
        int milliseconds = args.Length > 0 ? int.Parse(args[0]) : 40, kept = 1;
        var point = new Point(1);
        var heir = new Heir(2);
        var pair = new Pair { A = 1, B = 2 };
        var functions = new Func<int, int>[] {
            Declared, n => { new Point(n); return 0; }, point.Method, n => point.Read, n => point.Read = n, n => point[n], n => point + n,
            heir.Overridden, pair.OfStruct, Adder(3), n => Generator(n).First(), Caught, Recursive, OnOneLine, HigherOrder, Ordered,
            n => (int) Floats(n), Arrays, Switched, n => { int t; return ByReference(ref kept, out t, n); }, n => Generic("a", n),
            n => Variadic(n, 1), n => (int) Longs(n), Unchecked, Other.Square,
        };
        foreach (var f in functions)
            for (var watch = Stopwatch.StartNew(); watch.ElapsedMilliseconds < milliseconds;)
                sink ^= f(N);
        Console.WriteLine(functions.Length + " functions");
    }
}
