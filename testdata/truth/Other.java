// What Truth.java calls.
class Other {
    static int square(int n) {
        int s = 17;
        if (n < 0) throw new IllegalArgumentException("negative");
        for (int i = 0; i < n; i++) s = s * 83 + (i * i ^ s >>> 3); // hot: square
        return s;
    }

    static int mixed(int x) {
        int t = x;
        if (t == 1) t++;
        for (int i = 0; i < 200; i++) t = t * 85 + (i ^ t >>> 3); // hot: inlining > mixed, mixed
        return t;
    }

    static int through(int x) {
        if (x == 1) return 1;
        return deep(x) + 1;
    }

    static int deep(int x) {
        int t = x;
        if (t == 1) t++;
        for (int i = 0; i < 200; i++) t = t * 87 + (i ^ t >>> 3); // hot: inliningTwice > deep, through > deep, deep
        return t;
    }
}
