// What Truth.cs calls.
class Other {
    internal static int Square(int n) {
        int s = 18;
        for (int i = 0; i < n; i++) s = s * 73 + (i * i ^ s >> 3); // hot: Other:Square, Other::Square
        return s;
    }
}
