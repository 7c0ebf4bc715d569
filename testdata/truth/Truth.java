// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. Lines around a marked one are cold.
// java -XX:CompileCommand=dontinline,Truth*.* Truth [MILLISECONDS for each function]
import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.function.IntUnaryOperator;

public class Truth {
    static final int N = 20000;
    static int sink;

    static int declared(int n) {
        int s = 1;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) s = s * 31 + (i ^ s >>> 3); // hot: declared
        if (s == 7) s++;
        return s;
    }

    static final IntUnaryOperator LAMBDA = n -> {
        int s = 2;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) s = s * 33 + (i ^ s >>> 3); // hot: lambda$static$0
        return s;
    };

    static class Point implements Shape {
        int x, y;

        Point(int x) {
            this.x = x;
        }

        int method(int n) {
            int s = x;
            y++;
            for (int i = 0; i < n; i++) s = s * 37 + (i ^ s >>> 3); // hot: Truth$Point.method
            x = s & 7;
            return s;
        }

        int getRead() {
            int s = x;
            y++;
            for (int i = 0; i < N; i++) s = s * 39 + (i ^ s >>> 3); // hot: getRead
            x = s & 7;
            return s;
        }

        void setWrite(int n) {
            int s = x;
            y++;
            for (int i = 0; i < n; i++) s = s * 41 + (i ^ s >>> 3); // hot: setWrite
            x = s & 7;
        }

        private int hidden(int n) {
            int s = x;
            y++;
            for (int i = 0; i < n; i++) s = s * 45 + (i ^ s >>> 3); // hot: Truth$Point.hidden
            x = s & 7;
            return s;
        }

        synchronized int locked(int n) {
            int s = x;
            y++;
            for (int i = 0; i < n; i++) s = s * 43 + (i ^ s >>> 3); // hot: Truth$Point.locked
            x = s & 7;
            return s;
        }

        public int area() {
            return x;
        }
    }

    interface Shape {
        int area();

        default int standard(int n) {
            int s = area();
            if (n < 0) throw new IllegalArgumentException("negative");
            for (int i = 0; i < n; i++) s = s * 47 + (i ^ s >>> 3); // hot: standard
            return s;
        }
    }

    static class Made {
        final int s;

        Made(int n) {
            int t = n;
            sink++;
            for (int i = 0; i < n; i++) t = t * 49 + (i ^ t >>> 3); // hot: Made
            sink--;
            s = t;
        }
    }

    static class Heir extends Point {
        Heir(int x) {
            super(x);
        }

        @Override
        int method(int n) {
            return inherited(n) + super.method(1);
        }

        int inherited(int n) {
            int s = x;
            y++;
            for (int i = 0; i < n; i++) s = s * 51 + (i ^ s >>> 3); // hot: inherited
            x = s & 7;
            return s;
        }
    }

    static IntUnaryOperator adder(int k) {
        return new IntUnaryOperator() {
            int calls;

            @Override
            public int applyAsInt(int n) {
                int s = k;
                calls++;
                for (int i = 0; i < n; i++) s = s * 53 + (i ^ k ^ s >>> 3); // hot: Truth$1
                calls--;
                return s;
            }
        };
    }

    static class Numbers implements PrimitiveIterator.OfInt {
        int at;

        @Override
        public boolean hasNext() {
            return at < 10;
        }

        @Override
        public int nextInt() {
            int s = at++;
            if (s < 0) throw new IllegalStateException("negative");
            for (int i = 0; i < N / 10; i++) s = s * 55 + (i ^ s >>> 3); // hot: Truth$Numbers.nextInt
            return s;
        }
    }

    static int iterated(int n) {
        int s = 0;
        for (PrimitiveIterator.OfInt it = new Numbers(); it.hasNext();) s ^= it.nextInt();
        return s;
    }

    static int caught(int n) {
        int s = 8;
        try {
            for (int i = 0; i < n; i++) s = s * 59 + (i ^ s >>> 3); // hot: Truth.caught
            throw new IllegalStateException("thrown");
        } catch (IllegalStateException e) {
            s ^= 1;
        } finally {
            s++;
        }
        return s;
    }

    static int recursive(int n) {
        if (n <= 0) return sink & 1;
        int s = 0;
        for (int i = 0; i < 2000; i++) s = s * 61 + (i ^ s >>> 3); // hot: recursive
        return s ^ recursive(n - 2000);
    }

    static int onOneLine(int n) { int s = 9; for (int i = 0; i < n; i++) s = s * 63 + (i ^ s >>> 3); return s; } // hot: onOneLine

    static int callback(int x) {
        int s = x;
        if (x < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < 2000; i++) s = s * 65 + (i ^ s >>> 3); // hot: Truth.callback
        return s & 7;
    }

    static final int[] ARRAY = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    static int higherOrder(int n) {
        return Arrays.stream(ARRAY).map(Truth::callback).sum();
    }

    static int ordered(int n) {
        Integer[] kept = {3, 1, 2};
        Arrays.sort(kept, Truth::compare);
        return kept[0];
    }

    static int compare(Integer a, Integer b) {
        int t = a - b;
        sink++;
        for (int i = 0; i < 7000; i++) t = t * 67 + (i ^ t >>> 3); // hot: Truth.compare
        sink += t & 1;
        return a - b;
    }

    static int inlining(int n) {
        int s = 11;
        for (int k = 0; k < n; k += 200)
            s ^= Other.mixed(s + k);
        return s;
    }

    static int inliningTwice(int n) {
        int s = 12;
        for (int k = 0; k < n; k += 200)
            s ^= Other.through(s + k);
        return s;
    }

    static double floats(int n) {
        double s = 0.5;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) s = s * 1.000001 + 0.25; // hot: floats
        return s;
    }

    static final byte[] BYTES = new byte[4096];

    static int arrays(int n) {
        int s = 13;
        BYTES[0] = (byte) n;
        for (int i = 0; i < n; i++) s += BYTES[(s + i) & 4095] + (s >>> 3); // hot: Truth.arrays
        BYTES[1] = (byte) s;
        return s;
    }

    static int switched(int n) {
        int s = 14;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) switch (s & 3) { case 0: s += i; break; case 1: s ^= 3 * i; break; case 2: s -= 5; break; default: s = s * 7 + i; } // hot: switched
        return s;
    }

    static int labelled(int n) {
        int s = 15;
        outer:
        while (n > 0) {
            n -= 500;
            for (int i = 0; i < 500; i++) { s = s * 73 + (i ^ s >>> 3); if (i > 498) continue outer; } // hot: labelled
        }
        return s;
    }

    static <T extends Comparable<T>> int generic(T a, T b, int n) {
        int s = a.compareTo(b);
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) s = s * 75 + (i ^ s >>> 3); // hot: Truth.generic
        return s;
    }

    static int variadic(int... more) {
        int s = more.length;
        if (s == 0) throw new IllegalArgumentException("none");
        for (int i = 0; i < more[0]; i++) s = s * 77 + (i ^ s >>> 3); // hot: variadic
        return s;
    }

    static long longs(long n) {
        long s = 16;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (long i = 0; i < n; i++) s = s * 79 + (i ^ s >>> 3); // hot: longs
        return s;
    }

    enum Kind {
        A, B;

        int ofEnum(int n) {
            int s = ordinal();
            if (n < 0) throw new IllegalArgumentException("negative");
            for (int i = 0; i < n; i++) s = s * 81 + (i ^ s >>> 3); // hot: ofEnum
            return s;
        }
    }

    public static void main(String[] args) {
        int milliseconds = args.length > 0 ? Integer.parseInt(args[0]) : 40;
        Point point = new Point(1);
        Heir heir = new Heir(2);
        IntUnaryOperator closure = adder(3);
        IntUnaryOperator[] functions = {
            Truth::declared, LAMBDA, point::method, n -> point.getRead(), n -> { point.setWrite(n); return 0; }, point::hidden,
            point::locked, point::standard, n -> new Made(n).s, heir::inherited, closure, Truth::iterated, Truth::caught,
            Truth::recursive, Truth::onOneLine, Truth::higherOrder, Truth::ordered, Truth::inlining, Truth::inliningTwice,
            n -> (int) floats(n), Truth::arrays, Truth::switched, Truth::labelled, n -> generic("a", "b", n),
            n -> variadic(n, 1), n -> (int) longs(n), Kind.B::ofEnum, Other::square,
        };
        for (IntUnaryOperator f : functions)
            for (long end = System.nanoTime() + milliseconds * 1000000L; System.nanoTime() < end;)
                sink ^= f.applyAsInt(N);
        System.out.println(functions.length + " functions");
    }
}
